// Transposed convolutions of images and of volumes: the gradient of a convolution by its input, as
// an op.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// input [N, C, H, W] (or [C, H, W]) with weight [C, O / groups, kH, kW] and bias [O] gives
/// [N, O, (H − 1) · stride − 2 · padding + dilation · (kH − 1) + output_padding + 1, …]. Sizes are
/// one for both dimensions, or two; `output_padding` is smaller than the stride or the dilation.
///
/// With cuDNN (the default) nothing but the result is made. Without it PyTorch's own kernel has a
/// buffer of O / groups·kH·kW × H·W elements and, for the bias, one image of ones; both are freed
/// when the call is done.
Tensor conv_transpose2d(const Tensor& input, const Tensor& weight,
                        const std::optional<Tensor>& bias, const Shape& stride,
                        const Shape& padding, const Shape& output_padding, std::int64_t groups,
                        const Shape& dilation);

/// The same of images of one row, which are lines: cuDNN is always given them row-major, and a copy
/// made for it in backward lives until the bias has its gradient.
Tensor conv_transpose2d_of_lines(const Tensor& input, const Tensor& weight,
                                 const std::optional<Tensor>& bias, const Shape& stride,
                                 const Shape& padding, const Shape& output_padding,
                                 std::int64_t groups, const Shape& dilation);

/// The same of volumes: input [N, C, D, H, W] (or [C, D, H, W]) with weight
/// [C, O / groups, kD, kH, kW]. A CUDA device has them computed on the host.
Tensor conv_transpose3d(const Tensor& input, const Tensor& weight,
                        const std::optional<Tensor>& bias, const Shape& stride,
                        const Shape& padding, const Shape& output_padding, std::int64_t groups,
                        const Shape& dilation);

std::vector<OpDef> conv_transpose_ops();

}  // namespace ohm::ops
