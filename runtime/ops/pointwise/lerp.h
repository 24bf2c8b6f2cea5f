// Two or three tensors in one kernel: lerp, addcmul, addcdiv, atan2.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// input + weight · (end − input), written over the input; by a weight for each element.
Tensor lerp_(const Tensor& input, const Tensor& end, const Tensor& weight);
/// The same by one weight.
Tensor lerp_by_number_(const Tensor& input, const Tensor& end, double weight);

std::vector<OpDef> lerp_ops();

}  // namespace ohm::ops
