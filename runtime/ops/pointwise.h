// Element-wise arithmetic of one and two tensors, with broadcasting and dtype promotion.
//
// Every op but the in-place ones makes one new tensor of the broadcast shape. Operands must be on
// one device; a 0-dim CPU tensor goes with any. A number takes the tensor's dtype, except that a
// fraction makes an integer tensor float32. Errors: std::invalid_argument naming op and shapes.
#pragma once

#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// input + alpha · other. Saves nothing; both gradients are the incoming one.
Tensor add(const Tensor& input, const TensorOrNumber& other, double alpha = 1.0);
Tensor sub(const Tensor& input, const TensorOrNumber& other, double alpha = 1.0);
/// number − input.
Tensor rsub(const Tensor& input, double number);
/// Saves each operand only where the other wants a gradient.
Tensor mul(const Tensor& input, const TensorOrNumber& other);
/// True division: integers give float32.
Tensor div(const Tensor& input, const TensorOrNumber& other);
Tensor maximum(const Tensor& input, const Tensor& other);
Tensor minimum(const Tensor& input, const Tensor& other);

/// In place: `input` keeps its dtype and shape; no new bytes.
Tensor add_(const Tensor& input, const TensorOrNumber& other, double alpha = 1.0);
Tensor sub_(const Tensor& input, const TensorOrNumber& other, double alpha = 1.0);
Tensor mul_(const Tensor& input, const TensorOrNumber& other);
Tensor div_(const Tensor& input, const TensorOrNumber& other);
Tensor zero_(const Tensor& input);
Tensor fill_(const Tensor& input, double value);

Tensor neg(const Tensor& input);
Tensor exp(const Tensor& input);
Tensor log(const Tensor& input);
Tensor sqrt(const Tensor& input);
Tensor abs(const Tensor& input);
Tensor reciprocal(const Tensor& input);
Tensor pow(const Tensor& input, double exponent);
Tensor square(const Tensor& input);
Tensor rsqrt(const Tensor& input);
Tensor sin(const Tensor& input);
Tensor cos(const Tensor& input);
/// x · log(y), and 0 where x is 0.
Tensor xlogy(const Tensor& input, const Tensor& other);
/// At least one bound must be given.
Tensor clamp(const Tensor& input, std::optional<double> min, std::optional<double> max);

/// condition ? input : other, element by element. `condition` is a bool tensor.
Tensor where(const Tensor& condition, const Tensor& input, const Tensor& other);

/// Comparisons give bool tensors and have no gradient.
Tensor eq(const Tensor& input, const TensorOrNumber& other);
Tensor ne(const Tensor& input, const TensorOrNumber& other);
Tensor lt(const Tensor& input, const TensorOrNumber& other);
Tensor le(const Tensor& input, const TensorOrNumber& other);
Tensor gt(const Tensor& input, const TensorOrNumber& other);
Tensor ge(const Tensor& input, const TensorOrNumber& other);
Tensor isfinite(const Tensor& input);
Tensor isinf(const Tensor& input);
Tensor isnan(const Tensor& input);

std::vector<OpDef> binary_ops();
std::vector<OpDef> inplace_ops();
std::vector<OpDef> unary_ops();
std::vector<OpDef> math_ops();
std::vector<OpDef> trigonometry_ops();
std::vector<OpDef> blend_ops();
std::vector<OpDef> comparison_ops();

}  // namespace ohm::ops
