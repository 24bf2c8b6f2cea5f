// Layer normalisation.
#pragma once

#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// (input − mean) / √(variance + eps) · weight + bias over the last dimensions, which
/// `normalized_shape` names; weight and bias have that shape. Kept are input, weight, bias, and
/// mean and inverse deviation of each row in the accumulation dtype (float32 for half precision).
/// Throws std::invalid_argument for shapes that do not fit.
Tensor layer_norm(const Tensor& input, const Shape& normalized_shape,
                  const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                  double eps);

std::vector<OpDef> layer_norm_ops();

}  // namespace ohm::ops
