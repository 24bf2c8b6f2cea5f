// The notes on all recoveries of a workload, added up (command/recovery_notes.h makes them).
#pragma once

#include <optional>
#include <vector>

#include "harness/sweep/fault_task.h"
#include "reports/model/sweep_result.h"

namespace ohm::engine {

/// Of all faults that were judged: one of a kind, in the order of the kinds.
std::vector<RecoveryNote> sum_of_notes(const std::vector<std::optional<TaskVerdict>>& faults);

}  // namespace ohm::engine
