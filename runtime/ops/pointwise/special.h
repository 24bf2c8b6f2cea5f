// Special functions of one tensor and roundings of it, element by element, and these written over
// their input.
#pragma once

#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

Tensor erfinv(const Tensor& input);
/// log|Γ(x)|
Tensor lgamma(const Tensor& input);
/// The slope of lgamma. Its own gradient is differentiated once only.
Tensor digamma(const Tensor& input);
/// sin(πx) / πx
Tensor sinc(const Tensor& input);
/// log(x / (1 − x)) of x between eps and 1 − eps, where eps is given. Differentiated once only.
Tensor logit(const Tensor& input, std::optional<double> eps);

std::vector<OpDef> special_ops();

}  // namespace ohm::ops
