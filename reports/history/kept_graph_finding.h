// A graph that is kept alive across steps, where a record shows it.
#pragma once

#include <optional>

#include "reports/history/stepped_device.h"

namespace ohm::reports {

/// In every step behind the second most of what it makes stands beside the same lines' blocks of an
/// earlier one. nullopt: not in every step.
std::optional<FindingResult> kept_graph_finding(const SteppedDevice& device);

}  // namespace ohm::reports
