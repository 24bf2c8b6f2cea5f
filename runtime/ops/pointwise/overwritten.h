// Further ops that write over their input: parts of matrices, choices, draws and truth values.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// Draws of an exponential distribution with this rate.
Tensor exponential_(const Tensor& input, double lambda);

std::vector<OpDef> overwritten_ops();

}  // namespace ohm::ops
