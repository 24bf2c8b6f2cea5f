// The largest elements of windows of images [N, C, H, W] or [C, H, W].
//
// Sizes are one number for both dimensions, or two. A missing stride is the kernel's size. It keeps
// its input for backward. Errors: std::invalid_argument naming op and shapes.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// The largest elements of windows, and where each stood: as one number, of all of its plane or
/// volume in row-major order.
using PooledMaxima = std::pair<Tensor, Tensor>;
/// Both, or the first alone.
Value maxima_as_asked(const PooledMaxima& maxima, bool with_indices);

/// A row of the registry for WithIndices, which pools over images or volumes, and its parameters.
template <auto WithIndices>
Value max_pool_row(const Tensor& input, const Shape& kernel_size,
                   const std::optional<Shape>& stride, const Shape& padding, const Shape& dilation,
                   bool ceil_mode, bool return_indices) {
  return maxima_as_asked(WithIndices(input, kernel_size, stride, padding, dilation, ceil_mode),
                         return_indices);
}
std::vector<ParamName> max_pool_parameters();

/// The largest element of each window; NaN wins. Beside the result a tensor of int64 indices is
/// made, kept for backward and dropped at once without a graph. `ceil_mode`: windows that begin
/// inside the image count although they end outside.
Tensor max_pool2d(const Tensor& input, const Shape& kernel_size, const std::optional<Shape>& stride,
                  const Shape& padding, const Shape& dilation, bool ceil_mode);
/// The largest elements, and the indices that are made beside them.
PooledMaxima max_pool2d_with_indices(const Tensor& input, const Shape& kernel_size,
                                     const std::optional<Shape>& stride, const Shape& padding,
                                     const Shape& dilation, bool ceil_mode);

std::vector<OpDef> max_pool_ops();

}  // namespace ohm::ops
