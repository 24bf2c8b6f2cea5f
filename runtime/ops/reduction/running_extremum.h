// The largest and the smallest element so far along a dimension, with their places.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/ops/op.h"
#include "runtime/ops/sorting/picked_values.h"

namespace ohm::ops {

/// Values and where they stand (int64); of equal ones the last, and a NaN wins. The gradient is
/// added up where the values came from: saves the places.
ValuesAndIndices cummax(const Tensor& input, std::int64_t dim);
ValuesAndIndices cummin(const Tensor& input, std::int64_t dim);

std::vector<OpDef> running_ops();

}  // namespace ohm::ops
