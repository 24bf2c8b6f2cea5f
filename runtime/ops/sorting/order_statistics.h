// Elements by their place in the order of a row: the one in the middle, the k-th, the most
// frequent.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/ops/op.h"
#include "runtime/ops/sorting/picked_values.h"

namespace ohm::ops {

/// The lower one of the two in the middle of all elements; a NaN where there is one. Sorts a copy.
/// The gradient is shared by all that equal it.
Tensor median(const Tensor& input);
/// The same along a dimension, with its place. The gradient goes to where it came from.
ValuesAndIndices median(const Tensor& input, std::int64_t dim, bool keepdim);
/// The k-th smallest, from 1 on.
ValuesAndIndices kthvalue(const Tensor& input, std::int64_t k, std::int64_t dim, bool keepdim);
/// The smallest of the most frequent ones, and its last place.
ValuesAndIndices mode(const Tensor& input, std::int64_t dim, bool keepdim);

std::vector<OpDef> order_ops();

}  // namespace ohm::ops
