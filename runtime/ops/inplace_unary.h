// Functions of one tensor, written over it.
#pragma once

#include <optional>
#include <vector>

#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/ops/op.h"

namespace ohm::ops {

/// What clamp() and clamp_() compute.
formulas::Clamp clamped(std::optional<double> min, std::optional<double> max);

/// The gradient of clamp() and clamp_() by the input that was kept.
Tensor clamp_gradient(const Tensor& grad, const Tensor& input, std::optional<double> min,
                      std::optional<double> max);

/// At least one bound must be given. A copy of what is overwritten is kept for backward.
Tensor clamp_(const Tensor& input, std::optional<double> min, std::optional<double> max);

std::vector<OpDef> inplace_unary_ops();

}  // namespace ohm::ops
