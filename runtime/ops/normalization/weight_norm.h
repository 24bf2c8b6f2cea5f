// Weights by their direction and their length.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// (Σ|v|^pow)^(1/pow) over all dimensions but `dim`, which are left with size 1; with dim = −1 over
/// all dimensions, which are left out.
Tensor norm_except_dim(const Tensor& v, std::int64_t pow, std::int64_t dim);

/// v · g / ‖v‖, the norm as norm_except_dim() takes it. Along the first or the last dimension and
/// not in float16 it is one kernel, which keeps the norms for backward; else it is composed.
Tensor weight_norm(const Tensor& v, const Tensor& g, std::int64_t dim);

std::vector<OpDef> weight_norm_ops();

}  // namespace ohm::ops
