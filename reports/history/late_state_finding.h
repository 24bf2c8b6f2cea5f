// Optimizer state that appears late, where a record shows it.
#pragma once

#include <optional>

#include "reports/history/stepped_device.h"

namespace ohm::reports {

/// State that comes during the record and stays. nullopt: there is none, or memory ran out only
/// after a whole step beside it.
std::optional<FindingResult> late_state_finding(const SteppedDevice& device);

}  // namespace ohm::reports
