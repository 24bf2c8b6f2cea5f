#include "runtime/ops/reduction/reduction_kernel.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/ops/shape/view.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {

DimMask folded_dims(const Tensor& input, const std::optional<Shape>& dims, const OpInfo& info) {
  if (!dims || dims->empty()) return all_dims(input.dims());
  DimMask folded = 0;
  for (const std::int64_t dim : *dims) {
    const int position = wrap_dim(dim, input.dims(), info.name.data());
    if (input.dims() == 0) continue;
    if (contains(folded, position)) {
      throw std::invalid_argument(
          fmt::format("[{}] dim {} appears multiple times in the list of dims", info.name, dim));
    }
    folded = with(folded, position);
  }
  return folded;
}

namespace {

// One node for each dimension, as a graph of PyTorch has: they count among those that come later.
Tensor recorded_with_folded_dims(const Tensor& tensor, const Shape& shape, DimMask folded) {
  Tensor whole = tensor;
  for (int dim = 0; dim < shape.dims(); ++dim) {
    if (contains(folded, dim)) whole = unsqueeze(whole, dim);
  }
  return whole;
}

}  // namespace

Tensor with_folded_dims(const Tensor& tensor, const Shape& shape, DimMask folded) {
  if (tensor.dims() == shape.dims()) return tensor;
  if (Context::current().state.grad_enabled && tensor.requires_grad()) {
    return recorded_with_folded_dims(tensor, shape, folded);
  }
  Shape sizes(shape.dims(), 1);
  Shape strides(shape.dims(), 1);
  int next = tensor.dims();
  for (int dim = shape.dims() - 1; dim >= 0; --dim) {
    if (contains(folded, dim)) {
      if (next < tensor.dims()) strides[dim] = tensor.shape()[next] * tensor.strides()[next];
    } else {
      --next;
      sizes[dim] = tensor.shape()[next];
      strides[dim] = tensor.strides()[next];
    }
  }
  return make_view(tensor, sizes, strides, tensor.impl()->offset);
}

Tensor expanded_over(const Tensor& grad, const Shape& shape, DimMask folded, bool is_whole) {
  const Tensor whole = with_folded_dims(grad, shape, folded);
  if (Context::current().state.grad_enabled && grad.requires_grad()) return expand(whole, shape);
  Shape strides = whole.strides();
  for (int dim = 0; dim < shape.dims(); ++dim) {
    const bool is_repeated = shape[dim] != 1 || is_whole;
    if (contains(folded, dim) && is_repeated) strides[dim] = 0;
  }
  return make_view(grad, shape, strides, grad.impl()->offset);
}

}  // namespace ohm::ops
