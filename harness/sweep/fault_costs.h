// Costs of faults, as far as the fault-free run tells them.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "harness/sweep/counted_run.h"
#include "harness/sweep/fault_task.h"

namespace ohm::engine {

/// The number of the call among those that fail, and the index of the task: both forms of one call
/// stay together, for the second may be no other run than the first. Tasks are in the order of
/// their calls.
std::vector<std::pair<std::size_t, std::size_t>> numbered_by_call(
    const std::vector<FaultTask>& tasks);

/// Seconds, by the numbers of the calls.
std::vector<double> fault_costs(const std::vector<FaultTask>& tasks, const CountedRun& run);

}  // namespace ohm::engine
