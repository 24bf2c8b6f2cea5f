// Bad verdicts that say the same, but for addresses and the names of temporary files.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "harness/sweep/fault_task.h"

namespace ohm::engine {

bool is_alike(const TrialVerdict& a, const TrialVerdict& b);

/// The first of those that are alike, in order; good verdicts, and faults without one, are left
/// out.
std::vector<std::size_t> first_of_alike(const std::vector<std::optional<TaskVerdict>>& faults);

}  // namespace ohm::engine
