// The common part of reductions: which dimensions are folded, loops over what is folded to what,
// and gradients seen with the input's shape.
#pragma once

#include <optional>

#include "runtime/arithmetic/reduce.h"
#include "runtime/base/strided.h"
#include "runtime/ops/op_front.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// The dimensions in `dims` (none or empty: all). Throws std::invalid_argument for one that is not
/// there, or is there twice.
DimMask folded_dims(const Tensor& input, const std::optional<Shape>& dims, const OpInfo& info);

/// A result or its gradient with a dimension of 1 for each folded dimension of `shape`, whether it
/// kept them or not. A view; recorded where the tensor has a graph.
Tensor with_folded_dims(const Tensor& tensor, const Shape& shape, DimMask folded);

/// The gradient of a reduction's result, seen with the input's shape: folded dimensions repeat it.
/// Those of size 1 have no stride where `is_whole`: no dimensions were named for the reduction.
Tensor expanded_over(const Tensor& grad, const Shape& shape, DimMask folded, bool is_whole = false);

/// Calls visit(slot, x) for each element in row-major order; `slot` is the number of the result
/// that it is folded into. Pre-condition: the tensor has values.
template <class F>
void for_each_folded(const Tensor& input, DimMask folded, F&& visit) {
  const std::array<Shape, 2> strides = {input.strides(), reduced_strides(input.shape(), folded)};
  visit_dtype(input.dtype(), [&]<class T>(TypeTag<T>) {
    const T* data = input.data<const T>();
    for_each_offsets<2>(input.shape(), strides, [&](const auto& at) {
      visit(static_cast<std::size_t>(at[1]), convert_element<double>(data[at[0]]));
    });
  });
}

}  // namespace ohm::ops
