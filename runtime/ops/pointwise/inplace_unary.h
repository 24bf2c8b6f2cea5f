// Functions of one tensor, written over it.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// The result is kept for backward.
Tensor sqrt_(const Tensor& input);
Tensor exp_(const Tensor& input);
/// A copy of what is overwritten is kept for backward.
Tensor log_(const Tensor& input);

std::vector<OpDef> inplace_unary_ops();

}  // namespace ohm::ops
