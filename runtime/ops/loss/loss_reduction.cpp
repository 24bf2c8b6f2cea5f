#include "runtime/ops/loss/loss_reduction.h"

#include <fmt/core.h>

#include "allocator_shim/base/assert.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/arithmetic/reduce.h"
#include "runtime/base/refusal.h"

namespace ohm::ops {

Reduction parse_reduction(std::string_view text) {
  if (text == "none") return Reduction::none;
  if (text == "mean") return Reduction::mean;
  if (text == "sum") return Reduction::sum;
  refuse(fmt::format("'{}' is not a valid value for reduction: expected none, mean or sum", text));
}

Tensor reduced(const Tensor& losses, Reduction reduction) {
  if (reduction == Reduction::none) return losses;
  Tensor out = empty({}, options_of(losses));
  reduce_losses_into(out, losses, reduction);
  return out;
}

void reduce_losses_into(const Tensor& out, const Tensor& losses, Reduction reduction) {
  OHM_ASSERT(reduction != Reduction::none, "there is nothing to reduce");
  reduce_sum_into(out, losses, all_dims(losses.dims()), gradient_factor(reduction, losses.numel()));
}

void shrink_to_scalar(Tensor& tensor) {
  if (tensor.numel() == 0) {  // there is no storage to keep
    tensor = empty({}, options_of(tensor));
    return;
  }
  TensorImpl& impl = *tensor.impl();
  impl.sizes = Shape();
  impl.strides = Shape();
  impl.numel = 1;
  impl.is_contiguous = true;
}

}  // namespace ohm::ops
