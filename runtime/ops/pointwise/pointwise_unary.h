// Functions of one tensor that are computed element by element.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

Tensor exp(const Tensor& input);
Tensor log(const Tensor& input);
Tensor sqrt(const Tensor& input);
Tensor abs(const Tensor& input);
/// -1, 0 or 1, of floating dtypes; its own gradient is 0 everywhere.
Tensor signs_of(const Tensor& x);

std::vector<OpDef> unary_ops();

}  // namespace ohm::ops
