// Counts of elements: by value, and by the interval that they lie in. No gradients.
// Errors: std::invalid_argument naming op and shapes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// How often each whole number occurs in a vector of them, or the sums of their weights; at least
/// `minlength` counts. How many there are depends on the largest: the values must be known.
Tensor bincount(const Tensor& input, const std::optional<Tensor>& weights, std::int64_t minlength);
/// How many elements lie in each of `bins` intervals of one length from `min` to `max`; from the
/// smallest to the largest element where both are the same. Of the input's dtype.
Tensor histc(const Tensor& input, std::int64_t bins, double min, double max);

std::vector<OpDef> counting_ops();

}  // namespace ohm::ops
