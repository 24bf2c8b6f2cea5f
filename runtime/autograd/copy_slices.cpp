#include "runtime/autograd/copy_slices.h"

#include <utility>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/autograd_state.h"
#include "runtime/autograd/recorder.h"
#include "runtime/autograd/saved_tensor.h"
#include "runtime/autograd/variable.h"
#include "runtime/autograd/view_tracking.h"
#include "runtime/tensor/context.h"

namespace ohm {
namespace {

// The op's node may save what it is given: it gets values of its own.
Tensor row_major_clone(const Tensor& tensor) {
  Tensor clone = empty(tensor.shape(), options_of(tensor));
  copy_into(clone, tensor);
  if (Recorder record("CloneBackward", {&tensor}); record.is_needed()) {
    record.attach_differentiable(clone, [](BackwardCall& call) { return TensorList{call.grad()}; });
  }
  return clone;
}

void write_into(const Tensor& piece, const Tensor& source) {
  Recorder record("CopyBackwards", {&piece, &source});
  begin_inplace_write(piece, "CopySlices");
  copy_into(piece, source);
  if (!record.is_needed()) return;
  record.attach_edge_by_edge(piece, [](BackwardCall& call) {
    return TensorList{call.needs(0) ? zeros_like(call.grad()) : Tensor(),
                      call.needs(1) ? call.grad() : Tensor()};
  });
}

}  // namespace

CopySlices::CopySlices(const Tensor& base, const Tensor& view, IntrusivePtr<Node> function)
    : Node("CopySlices", next_sequence_number()),
      base_(geometry_of(base)),
      view_(geometry_of(view)),
      nodes_(*autograd_meta(view)->view_of->nodes),
      function_(std::move(function)) {
  EdgeList edges = function_->edges();
  edges[0] = gradient_edge(base);
  set_edges(std::move(edges));
  if (function_->is_differentiable()) set_differentiable();
  set_goes_edge_by_edge();
}

IntrusivePtr<Node> make_copy_slices(const Tensor& base, const Tensor& view,
                                    const IntrusivePtr<Node>& function) {
  return IntrusivePtr<Node>(new CopySlices(base, view, function));
}

TensorList CopySlices::apply(TensorList& grads) {
  if (!function_) throw_released(*this);
  Tensor whole = clone_laid_out_as(grads[0], base_);
  const Tensor piece = strided_piece(whole, base_, view_);
  if (piece.requires_grad()) mark_view(piece, whole, ViewOrigin::graph, nodes_);
  select_view();
  TensorList found;
  {
    const OpGuard op(function_->name());
    TensorList given{row_major_clone(piece)};
    found = function_->apply(given);
  }
  TensorList results(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!found[i].defined() || !gives(i)) continue;
    if (i > 0) {
      results[i] = std::move(found[i]);
      continue;
    }
    write_into(piece, found[0]);
    results[0] = whole;
  }
  return results;
}

void CopySlices::release_saved() {
  function_.reset();
  Node::release_saved();
}

bool CopySlices::gives(std::size_t edge) const {
  const GradientSelection* selection = running_selection();
  return needs(edge) && (selection == nullptr || selection->includes(*edges()[edge].node));
}

// Where the view's gradient goes is not a part of the graph that the pass looked at: it is wanted
// where the base's is.
void CopySlices::select_view() const {
  GradientSelection* selection = running_selection();
  if (selection != nullptr && function_->needs(0) && gives(0)) {
    selection->include(*function_->edges()[0].node);
  }
}

}  // namespace ohm
