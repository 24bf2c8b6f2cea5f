// Convolutions and pooling along one dimension: [N, C, L] is an image of one row.
//
// Everything else is as in the ops for images (conv.h, conv_transpose.h, max_pool.h,
// average_pool.h), with one size where those take two. Errors: std::invalid_argument naming op and
// shapes.
#pragma once

#include <optional>
#include <vector>

#include "runtime/ops/op.h"
#include "runtime/ops/pooling/max_pool.h"

namespace ohm::ops {

Tensor conv1d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
              const Shape& stride, const Shape& padding, const Shape& dilation,
              std::int64_t groups);
/// With padding by name, too: conv2d_with_padding().
Tensor conv1d_with_padding(const Tensor& input, const Tensor& weight,
                           const std::optional<Tensor>& bias, const Shape& stride,
                           const SizesOrWord& padding, const Shape& dilation, std::int64_t groups);
Tensor conv_transpose1d(const Tensor& input, const Tensor& weight,
                        const std::optional<Tensor>& bias, const Shape& stride,
                        const Shape& padding, const Shape& output_padding, std::int64_t groups,
                        const Shape& dilation);
Tensor max_pool1d(const Tensor& input, const Shape& kernel_size, const std::optional<Shape>& stride,
                  const Shape& padding, const Shape& dilation, bool ceil_mode);
PooledMaxima max_pool1d_with_indices(const Tensor& input, const Shape& kernel_size,
                                     const std::optional<Shape>& stride, const Shape& padding,
                                     const Shape& dilation, bool ceil_mode);
Tensor avg_pool1d(const Tensor& input, const Shape& kernel_size, const std::optional<Shape>& stride,
                  const Shape& padding, bool ceil_mode, bool count_include_pad);
Tensor adaptive_avg_pool1d(const Tensor& input, const Shape& output_size);

std::vector<OpDef> sequence_ops();

}  // namespace ohm::ops
