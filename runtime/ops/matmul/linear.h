// A linear layer: the product of rows with a weight, and a bias.
#pragma once

#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// input [*, in] · weightᵀ [in, out] + bias [out]; weight is [out, in].
Tensor linear(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias);

std::vector<OpDef> linear_ops();

}  // namespace ohm::ops
