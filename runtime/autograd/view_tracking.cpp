#include "runtime/autograd/view_tracking.h"

#include <fmt/core.h>

#include <stdexcept>
#include <utility>

#include "runtime/autograd/variable.h"
#include "runtime/tensor/context.h"

namespace ohm {
namespace {

ViewOrigin origin_now(ViewOrigin with_graph) {
  const ExecutionState& state = Context::current().state;
  if (state.inference_mode) return ViewOrigin::inference;
  return state.grad_enabled ? with_graph : ViewOrigin::no_grad;
}

}  // namespace

void mark_view(const Tensor& view, const Tensor& input, ViewOrigin origin, const ViewNodes& nodes) {
  if (!is_differentiable(view.dtype())) return;
  const AutogradMeta* of_input = autograd_meta(input);
  const bool is_of_view = of_input != nullptr && of_input->view_of;
  ViewOf view_of{is_of_view ? of_input->view_of->base : input, origin_now(origin), view.version(),
                 &nodes};
  if (is_of_view && view_of.origin == ViewOrigin::graph) {
    view_of.origin = of_input->view_of->origin;
  }
  ensure_autograd_meta(view).view_of = std::move(view_of);
}

bool is_marked_view(const Tensor& tensor) {
  const AutogradMeta* meta = autograd_meta(tensor);
  return meta != nullptr && meta->view_of;
}

void forget_view(const Tensor& view) {
  view.impl()->is_view = false;
  if (AutogradMeta* meta = autograd_meta(view)) meta->view_of.reset();
}

void set_view_origin(const Tensor& tensor, ViewOrigin origin) {
  if (is_marked_view(tensor)) autograd_meta(tensor)->view_of->origin = origin;
}

void rebase_history(const Tensor& view, const IntrusivePtr<Node>& node) {
  node->add_input(view);
  const ViewOf& view_of = *autograd_meta(view)->view_of;
  const IntrusivePtr<Node> slices = view_of.nodes->slices(view_of.base, view, node);
  set_history(view_of.base, slices, slices->add_input(view_of.base));
  refresh_history(view);
}

void require_overwritable_history(const Tensor& tensor, std::string_view op) {
  const AutogradMeta* meta = autograd_meta(tensor);
  if (meta == nullptr) return;
  if (meta->view_of) {
    if (meta->view_of->origin != ViewOrigin::graph) {
      throw std::invalid_argument(fmt::format(
          "[{}] {}", op,
          refusal_of(meta->view_of->origin, meta->grad_fn.get(), meta->output_number, "is being")));
    }
    if (tensor.requires_grad() && meta->view_of->base.is_leaf()) {
      throw std::invalid_argument(
          fmt::format("[{}] a view of a leaf Variable that requires grad is being used in an "
                      "in-place operation: wrap it in no_grad, or work on a copy",
                      op));
    }
  }
  // A view without a node is a leaf here even where its base got one since.
  if (tensor.requires_grad() && !meta->grad_fn) {
    throw std::invalid_argument(
        fmt::format("[{}] a leaf Variable that requires grad is being used in an in-place "
                    "operation: wrap it in no_grad, or work on a copy",
                    op));
  }
}

}  // namespace ohm
