// The means of windows of images [N, C, H, W] or [C, H, W].
//
// Sizes are one number for both dimensions, or two. A missing stride is the kernel's size. Both
// keep their input for backward. Errors: std::invalid_argument naming op and shapes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// The mean of each window. `count_include_pad`: the padding counts as zeros. `divisor_override`
/// is divided by instead of the number of elements.
Tensor avg_pool2d(const Tensor& input, const Shape& kernel_size, const std::optional<Shape>& stride,
                  const Shape& padding, bool ceil_mode, bool count_include_pad,
                  std::optional<std::int64_t> divisor_override);

/// Averages over windows that split the image into `output_size`. An output of one element is a
/// mean, which keeps nothing.
Tensor adaptive_avg_pool2d(const Tensor& input, const Shape& output_size);

/// Means [N, C, 1, …] seen with the strides of images or volumes whose channels come last. Their
/// gradient is written to memory of its own.
Tensor with_channels_last(const Tensor& means);

std::vector<OpDef> average_pool_ops();

}  // namespace ohm::ops
