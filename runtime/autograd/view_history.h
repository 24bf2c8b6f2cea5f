// The history of a view, noted by the op that makes it once the view has its node.
#pragma once

#include "runtime/autograd/view_tracking.h"

namespace ohm {

/// Notes that `view` looks at elements of `input`, so that writes to either are seen in the graph
/// of the other. `origin`: what it is while grad mode is on.
void track_view(const Tensor& view, const Tensor& input, ViewOrigin origin = ViewOrigin::graph);

}  // namespace ohm
