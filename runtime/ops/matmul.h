// Products of tensors of any number of dimensions, with their gradients: by those of mm.h.
#pragma once

#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// PyTorch's rules for any number of dimensions: vectors, matrices, broadcast batches.
Tensor matmul(const Tensor& input, const Tensor& other);
/// input [*, in] · weightᵀ [in, out] + bias [out]; weight is [out, in].
Tensor linear(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias);

std::vector<OpDef> matmul_ops();

}  // namespace ohm::ops
