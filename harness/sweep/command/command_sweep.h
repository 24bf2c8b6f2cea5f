// The sweep of a command: fails its requests for memory one at a time, and judges the outcome of
// each. The result is of the same model as a sweep of scenarios: the command is a scenario with one
// variant.
#pragma once

#include <map>
#include <string>

#include "harness/checkpoint/checkpoint.h"
#include "harness/sweep/command/command_workload.h"
#include "harness/sweep/command/failing_memory.h"
#include "harness/sweep/sweep.h"
#include "harness/sweep/sweep_rules.h"

namespace ohm::engine {

struct CommandSweepOptions : SweepRules, CommandWorkloadOptions {
  FaultLevel level = FaultLevel::request;
  std::string asked_points;  ///< as the result says it; empty: as the rules do
  /// What else the result depends on, by the names of options: equal in all shards.
  std::map<std::string, std::string> settings;
  Checkpoint* checkpoint = nullptr;  ///< of checkpointed_work(); nullptr: nothing is kept
};

/// All that the result depends on, for options.checkpoint.
CheckpointedWork checkpointed_work(const CommandSweepOptions& options);

/// Throws what FailingMemory throws, but for CommandInterrupted: what is known by then is the
/// result.
SweepOutcome sweep_command(const CommandSweepOptions& options, FailingMemory& memory,
                           SweepObserver& observer);

}  // namespace ohm::engine
