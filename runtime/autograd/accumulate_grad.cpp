#include "runtime/autograd/accumulate_grad.h"

#include <utility>

#include "runtime/arithmetic/factories.h"
#include "runtime/arithmetic/sum.h"
#include "runtime/autograd/recorded_arithmetic.h"
#include "runtime/autograd/variable.h"
#include "runtime/tensor/context.h"

namespace ohm {
namespace {

// A copy laid out as the leaf, so that optimizers walk both alike.
Tensor clone_laid_out_as(const Tensor& grad, const Tensor& leaf) {
  return recorded_copy_into(leaf.is_dense()
                                ? empty_strided(leaf.shape(), leaf.strides(), options_of(grad))
                                : empty(leaf.shape(), options_of(grad)),
                            grad);
}

// Whether a gradient may become the leaf's as it is.
bool is_laid_out_for(const Tensor& grad, const Tensor& leaf) {
  if (!leaf.is_dense() && leaf.numel() != 0) return grad.is_contiguous();
  for (int dim = 0; dim < leaf.dims(); ++dim) {
    const std::int64_t stride = grad.strides()[dim];
    if (leaf.shape()[dim] == 1 ? stride == 0 : stride != leaf.strides()[dim]) return false;
  }
  return true;
}

}  // namespace

void accumulate_grad(const Tensor& leaf, const Tensor& grad) {
  if (!grad.defined()) return;
  AutogradMeta& meta = *autograd_meta(leaf);
  const bool is_recorded = Context::current().state.grad_enabled;
  if (meta.grad.defined()) {
    if (is_recorded) {
      meta.grad = recorded_sum(meta.grad, grad);
    } else {
      accumulate_into(meta.grad, grad);
    }
  } else {
    const bool can_steal = !is_recorded && grad.use_count() == 1 && is_laid_out_for(grad, leaf);
    meta.grad = can_steal ? detach(grad) : clone_laid_out_as(grad, leaf);
    meta.grad.storage().set_category(Category::gradient);
  }
  for (const auto& hook : meta.accumulation_hooks) hook(leaf);
}

}  // namespace ohm
