// Element-wise choices between tensors: the larger, the smaller, the one that a condition names.
//
// Each makes one new tensor of the broadcast shape. Errors: std::invalid_argument naming op and
// shapes.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

Tensor maximum(const Tensor& input, const Tensor& other);
Tensor minimum(const Tensor& input, const Tensor& other);
/// condition ? input : other, element by element. `condition` is a bool tensor.
Tensor where(const Tensor& condition, const Tensor& input, const Tensor& other);
/// The same of numbers, each of which is made on the device before.
Tensor where_of(const Tensor& condition, const TensorOrNumber& input, const TensorOrNumber& other);

std::vector<OpDef> choice_ops();

}  // namespace ohm::ops
