// Images as the columns of their windows, and back: F.unfold and F.fold.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// Each window of images [N, C, H, W] or [C, H, W] as a column: [N, C · kernel, windows], or
/// without N. Sizes are one number for both dimensions, or two. PyTorch calls it F.unfold, and
/// im2col within. The result begins as memory of the input's size, which is exchanged where it is
/// too small.
Tensor im2col(const Tensor& input, const Shape& kernel_size, const Shape& dilation,
              const Shape& padding, const Shape& stride);

/// The reverse: columns [N, C · kernel, windows] added up where their windows stand in images of
/// `output_size`.
Tensor fold(const Tensor& input, const Shape& output_size, const Shape& kernel_size,
            const Shape& dilation, const Shape& padding, const Shape& stride);

std::vector<OpDef> column_ops();

}  // namespace ohm::ops
