// A bilinear form of two inputs.
#pragma once

#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// input1ᵀ · W · input2 + bias for each W of `weight` [out, in1, in2]: [*, in1] and [*, in2]
/// -> [*, out]. One product for each feature of the result, forward and backward; both inputs and
/// the weight are kept.
Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                const std::optional<Tensor>& bias);

std::vector<OpDef> bilinear_ops();

}  // namespace ohm::ops
