// Checks of the operands of divisions. Errors: std::invalid_argument naming op, dtypes and shapes.
#pragma once

#include "runtime/ops/op.h"

namespace ohm::ops {

/// Throws where numbers of this dtype leave no remainder by `divisor`: integers by a zero that the
/// host sees.
void require_divisible(const OpInfo& info, const TensorOrNumber& divisor, DType dtype);
/// Throws for bools, which PyTorch takes no remainders of.
void forbid_booleans(DType dtype);

}  // namespace ohm::ops
