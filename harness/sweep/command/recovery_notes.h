// Notes of what recoveries did otherwise than the fault-free run, where that decides no verdict.
//
// A program that has caught an out-of-memory error and ended well may have done its work again, or
// have left it out. What it does not print any more is a verdict (command_verdict.h); that it asks
// for less tells them apart no better than a guess: one that goes on with its host's memory does,
// too. And what is alive when a failed request is made again, and was not when it failed, is the
// failed attempt more often than not: on a card that is full there is no room beside it.
#pragma once

#include <string>
#include <vector>

#include "harness/sweep/command/failing_memory.h"
#include "harness/sweep/fault_task.h"
#include "reports/model/sweep_result.h"

namespace ohm::engine {

/// What is true of the recovery from the failure of `task`, whose plan is `plan`, beside a program
/// that ends as `fault_free` without faults. Each is counted once.
std::vector<RecoveryNote> recovery_notes(const FaultTask& task, const std::string& plan,
                                         const CommandOutcome& outcome,
                                         const CommandOutcome& fault_free);

}  // namespace ohm::engine
