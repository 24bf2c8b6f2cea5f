// Powers, with numbers and with tensors for exponents.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// input ^ exponent. Keeps the input.
Tensor pow(const Tensor& input, double exponent);
Tensor square(const Tensor& input);

/// input ^ exponent, element by element. Keeps both and the result.
Tensor pow(const Tensor& input, const Tensor& exponent);

/// One of the two. Whole numbers stay whole where the exponent is.
Tensor power_of(const Tensor& input, const TensorOrNumber& exponent);

/// base ^ exponent, element by element, in row-major order.
Tensor pow(const Number& base, const Tensor& exponent);

std::vector<OpDef> power_ops();

namespace formula {

/// square(), as gradients are written: see formula.h.
Tensor squared(const Tensor& tensor);

}  // namespace formula

}  // namespace ohm::ops
