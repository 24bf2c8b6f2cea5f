// Largest and smallest elements, and the order of elements.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// The largest (smallest) element of all; a NaN wins. The gradient is shared by all that equal it.
Tensor max(const Tensor& input);
Tensor min(const Tensor& input);

/// Values and where they stand along a dimension (int64). The gradient goes to where each came
/// from: saves the indices.
using ValuesAndIndices = std::pair<Tensor, Tensor>;
ValuesAndIndices max(const Tensor& input, std::int64_t dim, bool keepdim);
ValuesAndIndices min(const Tensor& input, std::int64_t dim, bool keepdim);
/// Stable, with one temporary: the numbers of a row.
ValuesAndIndices sort(const Tensor& input, std::int64_t dim, bool descending);
/// The `k` largest (smallest), in order.
ValuesAndIndices topk(const Tensor& input, std::int64_t k, std::int64_t dim, bool largest);

/// Index of the first largest (smallest) element, int64; over all without `dim`. No gradient.
Tensor argmax(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim);
Tensor argmin(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim);
/// The order that sorts each row, int64. No gradient.
Tensor argsort(const Tensor& input, std::int64_t dim, bool descending);

/// The gradient of one element of all, divided among those that equal it.
Tensor shared_gradient(const Tensor& grad, const Tensor& input, const Tensor& result);

std::vector<OpDef> extremum_ops();

}  // namespace ohm::ops
