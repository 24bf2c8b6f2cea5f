// Reductions that leave elements out: sums and means of what is a number, counts of what is not 0.
#pragma once

#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// The sum over `dim` (none: all) of what is a number. Saves the input.
Tensor nansum(const Tensor& input, const std::optional<Shape>& dim, bool keepdim);
/// The same divided by how many are numbers.
Tensor nanmean(const Tensor& input, const std::optional<Shape>& dim, bool keepdim);
/// How many elements are not 0, int64. No gradient.
Tensor count_nonzero(const Tensor& input, const std::optional<Shape>& dim);

std::vector<OpDef> nan_reduction_ops();

}  // namespace ohm::ops
