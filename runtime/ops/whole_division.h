// Divisions that write over what is divided, and the gradients of what they leave. Errors:
// std::invalid_argument naming op, dtypes and shapes.
#pragma once

#include <vector>

#include "runtime/autograd/recorder.h"
#include "runtime/ops/op.h"

namespace ohm::ops {

/// Of x and y in the remainder with the sign of x. Where y needs one, y is saved, then x.
TensorList fmod_gradients(BackwardCall& call);

/// floor_divide_, remainder_ and fmod_. A copy of what is overwritten is kept for the gradient of
/// the divisor.
std::vector<OpDef> whole_division_ops();

}  // namespace ohm::ops
