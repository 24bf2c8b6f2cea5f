// The largest element of each of the windows that split an image or a line.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// Of images [N, C, H, W] or [C, H, W]; `output_size` is one number for both dimensions, or two.
/// A tensor of int64 indices is made beside the result and kept for backward. PyTorch's kernel
/// knows row-major images alone: what lies otherwise is copied.
Tensor adaptive_max_pool2d(const Tensor& input, const Shape& output_size);

/// Of lines [N, C, L] or [C, L].
Tensor adaptive_max_pool1d(const Tensor& input, const Shape& output_size);

std::vector<OpDef> adaptive_max_ops();

}  // namespace ohm::ops
