// Reductions over some dimensions of a tensor.
#pragma once

#include <cstdint>

#include "runtime/arithmetic/factories.h"
#include "runtime/base/dim_mask.h"
#include "runtime/kernels/launch/elementwise.h"
#include "runtime/tensor/tensor.h"

namespace ohm {

/// Sum over the folded dimensions, in a new tensor of `dtype`; accumulated in double for floating
/// types, so that the result does not depend on the order. Dimensions are kept as 1 if `keep_dims`.
Tensor reduce_sum(const Tensor& tensor, DimMask folded, bool keep_dims, DType dtype);

/// As reduce_sum, times `factor`, into `out`: row-major, of as many elements as are left.
void reduce_sum_into(const Tensor& out, const Tensor& tensor, DimMask folded, double factor);

/// The same for callers that hold the scratch of a reduction themselves. Pre-condition: both are of
/// one dtype, or half precision is summed to float32.
void sum_without_scratch(const Tensor& out, const Tensor& tensor, DimMask folded, double factor);

}  // namespace ohm
