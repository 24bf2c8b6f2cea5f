// Functions of whole numbers, element by element, with broadcasting and promotion. No gradients.
// Errors: std::invalid_argument naming op and dtypes.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// Bit by bit, of whole numbers and bools.
Tensor bitwise_not(const Tensor& input);
Tensor bitwise_and(const Tensor& input, const TensorOrNumber& other);
Tensor bitwise_or(const Tensor& input, const TensorOrNumber& other);
Tensor bitwise_xor(const Tensor& input, const TensorOrNumber& other);

/// And bitwise_left_shift, bitwise_right_shift, gcd and lcm, of whole numbers.
std::vector<OpDef> whole_number_ops();

}  // namespace ohm::ops
