// The parts of a sweep that several machines made, as the one that one machine would have made.
#pragma once

#include <string>
#include <vector>

#include "reports/exit_code.h"

namespace ohm::reports {

struct MergedSweep {
  std::string json;
  ExitReason exit_reason = ExitReason::passed;  ///< what the whole sweep would have ended with
};

/// `parts` are reports of the schema "ohm.sweep/1", one of each shard. Throws std::invalid_argument
/// that says which part is wrong: no such report, or one of another sweep.
MergedSweep merged_sweeps(const std::vector<std::string>& parts);

}  // namespace ohm::reports
