// Reductions over some dimensions of a tensor.
#pragma once

#include <cstdint>

#include "runtime/arithmetic/factories.h"
#include "runtime/kernels/launch/elementwise.h"
#include "runtime/tensor/tensor.h"

namespace ohm {

/// The dimensions that a reduction folds, as a bit mask: dimension d is bit d.
using DimMask = std::uint32_t;

constexpr bool contains(DimMask mask, int dim) {
  return ((mask >> static_cast<unsigned>(dim)) & 1U) != 0;
}
constexpr DimMask with(DimMask mask, int dim) { return mask | (1U << static_cast<unsigned>(dim)); }
/// All dimensions of a tensor of `dims`.
constexpr DimMask all_dims(int dims) { return (1U << static_cast<unsigned>(dims)) - 1U; }

/// The shape that is left: folded dimensions are 1 when kept, absent when not.
Shape reduced_shape(const Shape& shape, DimMask folded, bool keep_dims);

/// Strides over a result of shape `reduced_shape(shape, folded, true)` that walk it while its
/// input is walked: 0 along what is folded.
Shape reduced_strides(const Shape& shape, DimMask folded);

/// Sum over the folded dimensions, in a new tensor of `dtype`; accumulated in double for floating
/// types, so that the result does not depend on the order. Dimensions are kept as 1 if `keep_dims`.
Tensor reduce_sum(const Tensor& tensor, DimMask folded, bool keep_dims, DType dtype);

/// As reduce_sum, times `factor`, into `out`: row-major, of as many elements as are left.
void reduce_sum_into(const Tensor& out, const Tensor& tensor, DimMask folded, double factor);

}  // namespace ohm
