// Functions of one tensor, written over it.
#pragma once

#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// At least one bound must be given. A copy of what is overwritten is kept for backward.
Tensor clamp_(const Tensor& input, std::optional<double> min, std::optional<double> max);
/// The result is kept for backward.
Tensor sqrt_(const Tensor& input);
Tensor exp_(const Tensor& input);
/// As clamp_().
Tensor log_(const Tensor& input);

std::vector<OpDef> inplace_unary_ops();

}  // namespace ohm::ops
