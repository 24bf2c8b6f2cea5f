// ReLU with a random slope on the left.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// x > 0 ? x : x · slope. In training each element has a slope of its own, uniform in
/// [lower, upper); else it is their mean. The slopes have memory of the input's size either way,
/// which is kept for backward.
Tensor rrelu(const Tensor& input, double lower, double upper, bool training);

std::vector<OpDef> rrelu_ops();

}  // namespace ohm::ops
