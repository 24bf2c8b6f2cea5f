// An imbalance between GPUs, where a record shows it.
#pragma once

#include <optional>
#include <vector>

#include "reports/model/finding_result.h"
#include "reports/model/memory_history.h"
#include "reports/model/run_result.h"

namespace ohm::reports {

/// One GPU that holds much more than another, which does the same. `devices` are those of the
/// history, in its order. nullopt: there is none.
std::optional<FindingResult> imbalance_finding(const MemoryHistory& history,
                                               const std::vector<DeviceResult>& devices);

}  // namespace ohm::reports
