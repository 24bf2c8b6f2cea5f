// Further functions of one tensor that are computed element by element, and xlogy.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

Tensor erf(const Tensor& input);
/// exp(x) − 1
Tensor expm1(const Tensor& input);
/// log(1 + x)
Tensor log1p(const Tensor& input);
Tensor reciprocal(const Tensor& input);
Tensor rsqrt(const Tensor& input);
Tensor sin(const Tensor& input);
Tensor cos(const Tensor& input);
/// x · log(y), and 0 where x is 0.
Tensor xlogy(const Tensor& input, const Tensor& other);

std::vector<OpDef> math_ops();

}  // namespace ohm::ops
