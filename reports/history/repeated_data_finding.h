// The same data twice on a GPU, where a record shows it.
#pragma once

#include <optional>

#include "reports/history/stepped_device.h"

namespace ohm::reports {

/// Blocks of one line that loads or copies, whose sizes are those of other blocks that are alive
/// with them: a checkpoint beside the model that took it over, a copy of a model. At the
/// out-of-memory error, or else at the peak. nullopt: there are none, or they are a small part.
std::optional<FindingResult> repeated_data_finding(const SteppedDevice& device);

}  // namespace ohm::reports
