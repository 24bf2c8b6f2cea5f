// Convolutions of images and of volumes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// input [N, C, H, W] (or [C, H, W]) ⋆ weight [O, C / groups, kH, kW] + bias [O]. `stride`,
/// `padding` and `dilation` are one size for both dimensions, or two. Input and weight are kept
/// for backward, whatever needs a gradient.
///
/// With cuDNN (the default) the result and the gradients have their channels last where an operand
/// has (not in float64), the bias is added in place and the library's workspace is taken to be
/// 0 bytes (modelled: its real size is the library's choice). Without it (Context::cudnn_enabled)
/// PyTorch's own kernel unfolds one image at a time into a buffer of
/// C·kH·kW × outH·outW elements, freed when the call is done (1 × 1 kernels need it for backward
/// alone). Groups are convolutions of their own, joined at the end; depthwise convolutions need
/// no buffer.
///
/// Throws std::invalid_argument where shapes, dtypes or devices do not fit.
Tensor conv2d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
              const Shape& stride, const Shape& padding, const Shape& dilation,
              std::int64_t groups);

/// The same with padding by name, too: "same" makes the result as large as the input, for strides
/// of 1 alone, and "valid" is none. Where one side needs a zero more than the other, the input is
/// copied with that zero.
Tensor conv2d_with_padding(const Tensor& input, const Tensor& weight,
                           const std::optional<Tensor>& bias, const Shape& stride,
                           const SizesOrWord& padding, const Shape& dilation, std::int64_t groups);

/// As conv2d(), of lines [N, C, L] or [C, L] and filters [O, C / groups, k], as images of one row;
/// sizes are two. cuDNN is always given them row-major, and a copy made for it in backward lives
/// until the bias has its gradient.
Tensor conv2d_of_lines(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                       const Shape& stride, const Shape& padding, const Shape& dilation,
                       std::int64_t groups);

/// Of volumes: input [N, C, D, H, W] (or [C, D, H, W]) ⋆ weight [O, C / groups, kD, kH, kW] + bias
/// [O]; sizes are one, or three. As images, but that without cuDNN the kernel is the one for
/// dilated filters, and one for each channel is always PyTorch's own, unless channels lie last. A
/// CUDA device has them computed on the host.
Tensor conv3d_with_padding(const Tensor& input, const Tensor& weight,
                           const std::optional<Tensor>& bias, const Shape& stride,
                           const SizesOrWord& padding, const Shape& dilation, std::int64_t groups);

std::vector<OpDef> conv_ops();

}  // namespace ohm::ops
