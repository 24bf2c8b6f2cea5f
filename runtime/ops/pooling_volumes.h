// Pooling over volumes [N, C, D, H, W] or [C, D, H, W].
//
// Sizes are one number for all three dimensions, or three. Everything else is as in pooling.h, but
// that averages are row-major always. A CUDA device has them computed on the host. Errors:
// std::invalid_argument naming op and shapes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/ops/op.h"
#include "runtime/ops/pooling.h"

namespace ohm::ops {

Tensor max_pool3d(const Tensor& input, const Shape& kernel_size, const std::optional<Shape>& stride,
                  const Shape& padding, const Shape& dilation, bool ceil_mode);
/// The largest elements, and the indices that are made beside them.
PooledMaxima max_pool3d_with_indices(const Tensor& input, const Shape& kernel_size,
                                     const std::optional<Shape>& stride, const Shape& padding,
                                     const Shape& dilation, bool ceil_mode);

Tensor avg_pool3d(const Tensor& input, const Shape& kernel_size, const std::optional<Shape>& stride,
                  const Shape& padding, bool ceil_mode, bool count_include_pad,
                  std::optional<std::int64_t> divisor_override);

Tensor adaptive_avg_pool3d(const Tensor& input, const Shape& output_size);

std::vector<OpDef> volume_pooling_ops();

}  // namespace ohm::ops
