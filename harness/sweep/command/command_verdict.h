// The verdict on a command in which a request failed, from how it ended beside how it ends without
// faults.
#pragma once

#include <string>
#include <vector>

#include "harness/sweep/command/failing_memory.h"
#include "harness/sweep/trial.h"

namespace ohm::engine {

/// What is checked of a run, a line for each value that another run has computed, too.
std::vector<std::string> compared_lines(const CommandOutcome& outcome, const CommandOutcome& other);

/// The compared lines that the other run does not have; "nothing": it has them all.
std::string checked_beyond(const CommandOutcome& outcome, const CommandOutcome& other);

/// Without anything that is checked, what a program prints is compared, as far as it is the same in
/// every run without faults: recovered_same means that it ended as without faults, left out no
/// line, and holds no more memory.
TrialVerdict command_verdict(const CommandOutcome& fault_free, const CommandOutcome& outcome);

}  // namespace ohm::engine
