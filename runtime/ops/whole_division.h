// What divisions leave: what they must be given, their gradients, and those that write over what is
// divided. Errors: std::invalid_argument naming op, dtypes and shapes.
#pragma once

#include <vector>

#include "runtime/autograd/recorder.h"
#include "runtime/ops/op.h"

namespace ohm::ops {

/// Throws where numbers of this dtype leave no remainder by `divisor`: complex numbers, and
/// integers by a zero that the host sees.
void require_divisible(const OpInfo& info, const TensorOrNumber& divisor, DType dtype);
/// Throws for bools, which PyTorch takes no remainders of.
void forbid_booleans(DType dtype);

/// Of x and y in the remainder with the sign of y, and in that with the sign of x. Where y needs
/// one, y is saved, then x.
TensorList remainder_gradients(BackwardCall& call);
TensorList fmod_gradients(BackwardCall& call);

/// floor_divide_, remainder_ and fmod_. A copy of what is overwritten is kept for the gradient of
/// the divisor.
std::vector<OpDef> whole_division_ops();

}  // namespace ohm::ops
