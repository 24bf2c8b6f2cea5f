// Windows that move along a dimension.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// A view of all windows of `size` elements of dimension `dim`, `step` apart: their elements are a
/// last dimension. Throws std::invalid_argument for a window that is larger than the dimension.
Tensor unfold(const Tensor& input, std::int64_t dim, std::int64_t size, std::int64_t step);

std::vector<OpDef> window_ops();

}  // namespace ohm::ops
