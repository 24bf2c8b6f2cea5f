// Powers of whole numbers that are whole numbers, too.
#pragma once

#include "runtime/ops/op.h"

namespace ohm::ops {

/// base ^ exponent of the dtype of both, which is one of integers; wraps. As in PyTorch, a negative
/// exponent of an element gives 0 but for 1 and −1. Throws std::invalid_argument where the exponent
/// is a negative number.
Tensor whole_power(const OpInfo& info, const Tensor& base, const TensorOrNumber& exponent);
Tensor whole_power(const OpInfo& info, Number base, const Tensor& exponent);

}  // namespace ohm::ops
