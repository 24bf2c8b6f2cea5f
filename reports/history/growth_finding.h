// Growth per step, where a record shows it.
#pragma once

#include <optional>
#include <string_view>

#include "reports/history/stepped_device.h"

namespace ohm::reports {

/// What grows is there at the end, of every step behind the second. nullopt: nothing does.
/// `steps`: what they are called, "steps".
std::optional<FindingResult> growth_finding(const SteppedDevice& device, std::string_view steps);

}  // namespace ohm::reports
