// Elements of rows in order: all of them, or the first k.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/ops/op.h"
#include "runtime/ops/sorting/picked_values.h"

namespace ohm::ops {

/// Stable, with one temporary: the numbers of a row.
ValuesAndIndices sort(const Tensor& input, std::int64_t dim, bool descending);
/// The `k` largest (smallest), in order.
ValuesAndIndices topk(const Tensor& input, std::int64_t k, std::int64_t dim, bool largest);
/// The order that sorts each row, int64. No gradient.
Tensor argsort(const Tensor& input, std::int64_t dim, bool descending);

std::vector<OpDef> sorting_ops();

}  // namespace ohm::ops
