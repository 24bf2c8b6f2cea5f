// Graphs that no backward pass uses, where a record shows them: inference with gradients.
#pragma once

#include <optional>

#include "reports/history/stepped_device.h"

namespace ohm::reports {

/// At the out-of-memory error, or else at the peak, most of what a line's call of a model has made
/// is alive, as a backward pass would need it; and in earlier calls of that line none came before
/// it was freed. The evidence is the calling line. nullopt: there is none, or no earlier call.
std::optional<FindingResult> inference_graph_finding(const SteppedDevice& device);

}  // namespace ohm::reports
