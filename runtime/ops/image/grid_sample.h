// Images sampled at the points of a grid, and grids of affine maps.
#pragma once

#include <string>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// The points of images of `size` [N, C, H, W] under the maps `theta` [N, 2, 3]: [N, H, W, 2], as
/// grid_sample() takes them, -1 and 1 being the image's edges. `align_corners`: they are the
/// middles of the outermost pixels, else those pixels' far sides.
Tensor affine_grid(const Tensor& theta, const Shape& size, bool align_corners);

/// Images [N, C, H, W] at the points `grid` [N, H', W', 2] of (x, y): [N, C, H', W']. `mode` is
/// "bilinear", "nearest" or "bicubic"; `padding_mode` says what is beyond the edges: "zeros",
/// "border" or "reflection". Keeps both. cuDNN samples bilinearly with zeros and aligned corners:
/// it is given a row-major grid.
Tensor grid_sample(const Tensor& input, const Tensor& grid, const std::string& mode,
                   const std::string& padding_mode, bool align_corners);

std::vector<OpDef> grid_ops();

}  // namespace ohm::ops
