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

/// Whether the gradients get a graph of their own, to be differentiated again (create_graph).
enum class GradientGraph : bool { none, record };

/// Accumulates the gradients of `roots` into the `.grad` of the leaves they were computed from.
///
/// `root_grads[i]` is the gradient of roots[i]; undefined: ones, for a root of one element. Nodes
/// run latest forward op first; each gradient is dropped, and each saved tensor released, as soon
/// as its node has run. Throws std::invalid_argument for a root without a graph, a root that is not
/// a scalar and has no gradient, a graph that was released already; when a graph of the gradient is
/// wanted, for an op whose formula cannot be recorded; OutOfMemory. After an error each leaf's
/// gradient is the one before or the new one, never half of it; which is which is not said, as in
/// PyTorch: zero_grad() before the next pass. The modes are as they were, and what the nodes that
/// did not run have saved goes with the graph.
void backward(const std::vector<Tensor>& roots, std::vector<Tensor> root_grads,
              GraphRetention retention, GradientGraph graph = GradientGraph::none);

struct GradientRequest {
  GraphRetention retention = GraphRetention::release;
  GradientGraph graph = GradientGraph::none;
  bool allows_unused = false;  ///< else an input that no root depends on is an error
};

/// The gradients of `roots` with respect to `inputs`, leaves or not: what torch.autograd.grad does.
/// No `.grad` changes, and only the nodes that lead to an input run. Undefined for an unused input.
/// `root_grads`: those that are missing are made, and the caller has them afterwards: PyTorch's
/// lets them go last. Throws as backward() does.
std::vector<Tensor> gradients(const std::vector<Tensor>& roots, std::vector<Tensor>&& root_grads,
                              const std::vector<Tensor>& inputs, const GradientRequest& request);

/// Asks for a call when the running backward pass has ended; forgotten when the pass fails. For
/// accumulation hooks, which run inside a pass.
void queue_after_backward(std::function<void()> callback);

/// One scalar root.
void backward(const Tensor& root, GraphRetention retention = GraphRetention::release);

}  // namespace ohm
