// Arithmetic of two tensors, written over the first: `input` keeps its dtype and shape, and there
// are no new bytes but for what is kept for backward. Errors: std::invalid_argument naming op and
// shapes.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

Tensor add_(const Tensor& input, const TensorOrNumber& other, double alpha = 1.0);
Tensor sub_(const Tensor& input, const TensorOrNumber& other, double alpha = 1.0);
Tensor mul_(const Tensor& input, const TensorOrNumber& other);
Tensor div_(const Tensor& input, const TensorOrNumber& other);
Tensor zero_(const Tensor& input);
Tensor fill_(const Tensor& input, double value);
/// Draws: normal, and uniform in [low, high).
Tensor normal_(const Tensor& input, double mean, double deviation);
Tensor uniform_(const Tensor& input, double low, double high);

std::vector<OpDef> inplace_ops();

}  // namespace ohm::ops
