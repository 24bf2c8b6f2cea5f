// Elements kept between bounds.
#pragma once

#include <optional>
#include <vector>

#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/ops/op.h"

namespace ohm::ops {

/// At least one bound must be given.
Tensor clamp(const Tensor& input, std::optional<double> min, std::optional<double> max);

/// The same over the input. Saves a copy of it.
Tensor clamp_(const Tensor& input, std::optional<double> min, std::optional<double> max);

/// The same with two tensors or two numbers as bounds, or one of them.
Tensor clamp_by(const Tensor& input, const std::optional<TensorOrNumber>& min,
                const std::optional<TensorOrNumber>& max);
Tensor clamp_by_(const Tensor& input, const std::optional<TensorOrNumber>& min,
                 const std::optional<TensorOrNumber>& max);

/// The functor of clamp() and clamp_().
functors::Clamp clamped(std::optional<double> min, std::optional<double> max);

/// The gradient of clamp() and clamp_() by the input that was kept.
Tensor clamp_gradient(const Tensor& grad, const Tensor& input, std::optional<double> min,
                      std::optional<double> max);

std::vector<OpDef> clamp_ops();

}  // namespace ohm::ops
