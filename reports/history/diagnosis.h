// The diagnosis of a record of memory: which pitfalls of the catalogue it shows.
#pragma once

#include <vector>

#include "reports/model/memory_history.h"
#include "reports/model/run_result.h"

namespace ohm::reports {

/// `history` with all of its blocks; `devices` are those of the history, in its order, with their
/// peaks. What is about steps needs marks of them.
///
/// Found are: growth per step, a graph that is kept alive across steps, free memory stranded in
/// segments that are partly in use, optimizer state that appears late, and an imbalance.
std::vector<FindingResult> diagnose(const MemoryHistory& history,
                                    const std::vector<DeviceResult>& devices);

}  // namespace ohm::reports
