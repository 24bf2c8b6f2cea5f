// The backward pass.
#pragma once

#include <functional>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace ohm {

enum class GraphRetention : bool {
  release,  ///< saved tensors go as soon as their node has run
  retain,   ///< they stay until the last reference to an output goes
};

/// Accumulates the gradients of `roots` into the `.grad` of the leaves they were computed from.
///
/// `root_grads[i]` is the gradient of roots[i]; undefined: ones, for a root of one element. Nodes
/// run latest forward op first; each gradient is dropped, and each saved tensor released, as soon
/// as its node has run. Throws std::invalid_argument for a root without a graph, a root that is not
/// a scalar and has no gradient, a graph that was released already; OutOfMemory.
void backward(const std::vector<Tensor>& roots, std::vector<Tensor> root_grads,
              GraphRetention retention);

/// Asks for a call when the running backward pass has ended; forgotten when the pass fails. For
/// accumulation hooks, which run inside a pass.
void queue_after_backward(std::function<void()> callback);

/// One scalar root.
void backward(const Tensor& root, GraphRetention retention = GraphRetention::release);

}  // namespace ohm
