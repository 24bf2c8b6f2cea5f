// Rows divided by their root mean square.
#pragma once

#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// input / sqrt(mean(input²) + eps) · weight over the last dimensions, which `normalized_shape`
/// names. Half precision is computed in float32. No eps: the dtype's smallest step at 1.
///
/// Composed of other ops, or, with later rules, on a GPU, where weight and input have one dtype,
/// one kernel that keeps the input and the reciprocal root of each row.
Tensor rms_norm(const Tensor& input, const Shape& normalized_shape,
                const std::optional<Tensor>& weight, std::optional<double> eps);

std::vector<OpDef> rms_norm_ops();

}  // namespace ohm::ops
