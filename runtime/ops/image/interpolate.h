// Images and lines made larger or smaller.
#pragma once

#include <string>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// [N, C, H, W] -> [N, C, H', W'] or [N, C, L] -> [N, C, L'], to `size` or by `scale_factor` (one
/// of them is given, with one number for all dimensions or one for each). `mode`: "nearest"; of
/// images "bilinear" and "bicubic", of lines "linear", with or without corners that stay in place;
/// "area", the mean of what an element stands over, which volumes [N, C, D, H, W] have too. Saves
/// nothing.
Tensor interpolate(const Tensor& input, const std::optional<Shape>& size,
                   const std::optional<std::vector<double>>& scale_factor, const std::string& mode,
                   bool align_corners);

std::vector<OpDef> interpolate_ops();

}  // namespace ohm::ops
