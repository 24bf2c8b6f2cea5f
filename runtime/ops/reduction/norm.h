// Norms of all elements, or along some dimensions.
#pragma once

#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// (Σ|x|^p)^(1/p) over `dim` (none: all); of p = 0 the count of what is not 0, of p = ±infinity the
/// largest or smallest |x|. `dtype` is that of the result, and what elements are added up in. Saves
/// input and result.
Tensor norm(const Tensor& input, double p, const std::optional<Shape>& dim, bool keepdim,
            std::optional<DType> dtype = {});
inline Tensor norm(const Tensor& input, double p = 2.0) { return norm(input, p, {}, false); }

/// The same of all elements into the one element of `out`: no graph, no new bytes.
void norm_into(const Tensor& out, const Tensor& input, double p);

std::vector<OpDef> norm_ops();

}  // namespace ohm::ops
