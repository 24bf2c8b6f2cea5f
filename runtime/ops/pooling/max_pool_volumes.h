// The largest elements of windows of volumes [N, C, D, H, W] or [C, D, H, W].
//
// Sizes are one number for all three dimensions, or three. Everything else is as in max_pool.h. A
// CUDA device has them computed on the host. Errors: std::invalid_argument naming op and shapes.
#pragma once

#include <optional>
#include <vector>

#include "runtime/ops/op.h"
#include "runtime/ops/pooling/max_pool.h"

namespace ohm::ops {

Tensor max_pool3d(const Tensor& input, const Shape& kernel_size, const std::optional<Shape>& stride,
                  const Shape& padding, const Shape& dilation, bool ceil_mode);
/// The largest elements, and the indices that are made beside them.
PooledMaxima max_pool3d_with_indices(const Tensor& input, const Shape& kernel_size,
                                     const std::optional<Shape>& stride, const Shape& padding,
                                     const Shape& dilation, bool ceil_mode);

std::vector<OpDef> max_pool_volume_ops();

}  // namespace ohm::ops
