// Max unpooling: maxima put back where max_pool found them, zeros everywhere else.
//
// `indices` are those that a max_pool of as many dimensions gives beside its maxima. The result has
// `output_size`, of the last dimensions alone or of all, or without one what the windows cover:
// (n − 1) · stride + kernel_size − 2 · padding. Sizes are one number for all dimensions, or one for
// each; a missing stride is the kernel's size. Results are row-major. A CUDA device has them
// computed on the host. Errors: std::invalid_argument naming op and shapes.
#pragma once

#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// Of lines [N, C, L] or [C, L].
Tensor max_unpool1d(const Tensor& input, const Tensor& indices, const Shape& kernel_size,
                    const std::optional<Shape>& stride, const Shape& padding,
                    const std::optional<Shape>& output_size);
/// Of images [N, C, H, W] or [C, H, W]. Keeps the indices.
Tensor max_unpool2d(const Tensor& input, const Tensor& indices, const Shape& kernel_size,
                    const std::optional<Shape>& stride, const Shape& padding,
                    const std::optional<Shape>& output_size);
/// Of volumes [N, C, D, H, W] or [C, D, H, W]. Keeps the indices.
Tensor max_unpool3d(const Tensor& input, const Tensor& indices, const Shape& kernel_size,
                    const std::optional<Shape>& stride, const Shape& padding,
                    const std::optional<Shape>& output_size);

std::vector<OpDef> unpooling_ops();

}  // namespace ohm::ops
