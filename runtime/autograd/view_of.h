// The link of a differentiable view to the tensor that it is a view of.
//
// Note [Writing over views]
// A write to a view changes its base, so it is the base's history that becomes another one: its
// new node (CopySlices, copy_slices.h) passes on the gradient of what was not written to, and gives
// that of the view to the op's own node. Other views of the base, and the one that was written to,
// get a new node when theirs is asked for next: a piece of the base as it is now
// (AsStridedBackward, strided_piece.h). The version of the storage tells that a view's node is old.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/autograd/node.h"
#include "runtime/tensor/tensor.h"

namespace ohm {

/// How a view came about. Writing over one that is no plain view in the graph would give wrong
/// gradients, and is refused where a graph is recorded.
enum class ViewOrigin : std::uint8_t {
  graph,            ///< an op with one result, while a graph could be recorded
  no_grad,          ///< made in no_grad
  inference,        ///< made in inference_mode
  several_outputs,  ///< one of the views that split, chunk or unbind returned
  custom_function,  ///< returned by a function with a backward of its own
};

/// Makes the nodes that a write to a base or to a view of it gives them.
struct ViewNodes {
  /// Of `view` as a piece of `base`.
  IntrusivePtr<Node> (*piece)(const Tensor& base, const Tensor& view);
  /// Of `base`, after the op of `function` wrote over `view`.
  IntrusivePtr<Node> (*slices)(const Tensor& base, const Tensor& view,
                               const IntrusivePtr<Node>& function);
};

/// As PyTorch's, a view keeps its base, with the graph that the base hangs on.
struct ViewOf {
  Tensor base;  ///< never a view itself: a view of a view is one of the same base
  ViewOrigin origin = ViewOrigin::graph;
  std::uint32_t version = 0;         ///< of the storage, when the view's grad_fn was made
  const ViewNodes* nodes = nullptr;  ///< not owned; lives as long as the program
};

/// Why a view of another origin than `graph`, which `node` made by its output `output_number`, is
/// no place to write to. `happened`: "is being", or what was written to instead.
std::string refusal_of(ViewOrigin origin, const Node* node, std::uint32_t output_number,
                       std::string_view happened);

}  // namespace ohm
