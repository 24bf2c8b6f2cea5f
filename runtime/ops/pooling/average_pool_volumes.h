// The means of windows of volumes [N, C, D, H, W] or [C, D, H, W].
//
// Sizes are one number for all three dimensions, or three. Everything else is as in average_pool.h,
// but that results are row-major always. A CUDA device has them computed on the host. Errors:
// std::invalid_argument naming op and shapes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

Tensor avg_pool3d(const Tensor& input, const Shape& kernel_size, const std::optional<Shape>& stride,
                  const Shape& padding, bool ceil_mode, bool count_include_pad,
                  std::optional<std::int64_t> divisor_override);

Tensor adaptive_avg_pool3d(const Tensor& input, const Shape& output_size);

std::vector<OpDef> average_pool_volume_ops();

}  // namespace ohm::ops
