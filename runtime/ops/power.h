// Powers with tensors for exponents.
#pragma once

#include "runtime/ops/value.h"

namespace ohm::ops {

/// input ^ exponent, element by element. Keeps both and the result.
Tensor pow(const Tensor& input, const Tensor& exponent);

/// The same; a number is pow(input, number).
Tensor power_of(const Tensor& input, const TensorOrNumber& exponent);

}  // namespace ohm::ops
