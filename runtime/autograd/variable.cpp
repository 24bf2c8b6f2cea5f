#include "runtime/autograd/variable.h"

#include <fmt/core.h>

#include <stdexcept>

#include "allocator_shim/base/assert.h"
#include "runtime/tensor/shared_elements.h"

namespace ohm {

AutogradMeta* autograd_meta(const Tensor& tensor) {
  return static_cast<AutogradMeta*>(tensor.impl()->autograd.get());
}

AutogradMeta& ensure_autograd_meta(const Tensor& tensor) {
  auto& slot = tensor.impl()->autograd;
  if (!slot) slot = std::make_unique<AutogradMeta>();
  return static_cast<AutogradMeta&>(*slot);
}

AccumulateGrad::AccumulateGrad(const Tensor& leaf)
    : Node("AccumulateGrad", kBeforeAll), leaf_(leaf) {
  set_differentiable();
  add_input(leaf);
}

AccumulateGrad::~AccumulateGrad() {
  AutogradMeta& meta = *autograd_meta(leaf_);
  if (meta.accumulator == this) meta.accumulator = nullptr;
}

void forget_accumulator(const Tensor& leaf) {
  if (AutogradMeta* const meta = autograd_meta(leaf)) meta->accumulator = nullptr;
}

TensorList AccumulateGrad::apply(TensorList& /*grads*/) {
  OHM_ASSERT(false, "the engine accumulates the gradients of leaves");
  return {};
}

const std::shared_ptr<GradientHooks>& AccumulateGrad::hooks() const {
  return autograd_meta(leaf_)->gradient_hooks;
}

Edge gradient_edge(const Tensor& tensor) {
  if (!tensor.requires_grad()) return {};
  refresh_history(tensor);
  AutogradMeta& meta = *autograd_meta(tensor);
  if (meta.grad_fn) return {meta.grad_fn, meta.output_number};
  if (!meta.requires_grad) return {};
  if (meta.accumulator == nullptr) meta.accumulator = new AccumulateGrad(tensor);
  return {IntrusivePtr<Node>(meta.accumulator), 0};
}

void refresh_history(const Tensor& tensor) {
  const AutogradMeta* const meta = autograd_meta(tensor);
  if (meta == nullptr || !meta->view_of) return;
  const ViewOf& view_of = *meta->view_of;
  const std::uint32_t version = tensor.version();
  if (view_of.version == version || !(meta->grad_fn || view_of.base.requires_grad())) return;
  if (view_of.origin != ViewOrigin::graph) {
    throw std::invalid_argument(refusal_of(view_of.origin, meta->grad_fn.get(), meta->output_number,
                                           "its base or another view of its base has been"));
  }
  set_history(tensor, view_of.nodes->piece(view_of.base, tensor), 0);
}

Tensor detach(const Tensor& tensor) { return detached_alias(tensor); }

void begin_inplace_write(const Tensor& tensor, std::string_view op) {
  if (has_elements_in_one_place(tensor)) {
    throw std::invalid_argument(
        fmt::format("[{}] unsupported operation: more than one element of the written-to tensor "
                    "refers to a single memory location. Please clone() the tensor before "
                    "performing the operation.",
                    op));
  }
  tensor.bump_version();
}

void require_no_partial_overlap(const Tensor& written, const Tensor& read, std::string_view op) {
  if (&written.storage() != &read.storage() || written.impl() == read.impl()) return;
  if (written.numel() == 0 || read.numel() == 0) return;
  const auto begin_of = [](const Tensor& tensor) {
    return static_cast<std::size_t>(tensor.impl()->offset) * item_bytes(tensor.dtype());
  };
  const auto end_of = [&](const Tensor& tensor) { return begin_of(tensor) + tensor.nbytes(); };
  if (begin_of(written) >= end_of(read) || begin_of(read) >= end_of(written)) return;
  const bool are_the_same = begin_of(written) == begin_of(read) &&
                            end_of(written) == end_of(read) && written.strides() == read.strides();
  if (are_the_same || !written.is_dense() || !read.is_dense()) return;
  throw std::invalid_argument(
      fmt::format("[{}] unsupported operation: some elements of the input tensor and the "
                  "written-to tensor refer to a single memory location. Please clone() the tensor "
                  "before performing the operation.",
                  op));
}

bool Tensor::requires_grad() const {
  const AutogradMeta* meta = autograd_meta(*this);
  if (meta == nullptr) return false;
  return meta->requires_grad || meta->grad_fn ||
         (meta->view_of && meta->view_of->base.requires_grad());
}

void Tensor::set_requires_grad(bool requires_grad) const {
  if (!is_leaf()) {
    if (requires_grad) return;
    throw std::invalid_argument(
        "you can only change requires_grad flags of leaf variables. If you want to use a computed "
        "variable in a subgraph that doesn't require differentiation use detach()");
  }
  if (requires_grad && !is_differentiable(dtype())) {
    throw std::invalid_argument(fmt::format(
        "only tensors of floating point and complex dtype can require gradients, not {}",
        name_of(dtype())));
  }
  if (autograd_meta(*this) == nullptr && !requires_grad) return;
  ensure_autograd_meta(*this).requires_grad = requires_grad;
}

Node* Tensor::grad_fn() const {
  refresh_history(*this);
  const AutogradMeta* meta = autograd_meta(*this);
  return meta == nullptr ? nullptr : meta->grad_fn.get();
}

Tensor Tensor::grad() const {
  const AutogradMeta* meta = autograd_meta(*this);
  return meta == nullptr ? Tensor() : meta->grad;
}

void Tensor::set_grad(Tensor grad) const {
  if (!grad.defined() && autograd_meta(*this) == nullptr) return;
  ensure_autograd_meta(*this).grad = std::move(grad);
}

}  // namespace ohm
