// Images made larger or smaller.
#pragma once

#include <string>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// [N, C, H, W] -> [N, C, H', W'], to `size` or by `scale_factor` (one of them is given, with one
/// number for both dimensions or two). `mode`: "nearest", or "bilinear" and "bicubic", with or
/// without corners that stay in place. Saves nothing.
Tensor interpolate(const Tensor& input, const std::optional<Shape>& size,
                   const std::optional<std::vector<double>>& scale_factor, const std::string& mode,
                   bool align_corners);

std::vector<OpDef> interpolate_ops();

}  // namespace ohm::ops
