// Largest and smallest elements, and their places.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/ops/op.h"
#include "runtime/ops/sorting/picked_values.h"

namespace ohm::ops {

/// The largest (smallest) element of all; a NaN wins. The gradient is shared by all that equal it.
Tensor max(const Tensor& input);
Tensor min(const Tensor& input);

/// Along a dimension.
ValuesAndIndices max(const Tensor& input, std::int64_t dim, bool keepdim);
ValuesAndIndices min(const Tensor& input, std::int64_t dim, bool keepdim);

/// Index of the first largest (smallest) element, int64; over all without `dim`. No gradient.
Tensor argmax(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim);
Tensor argmin(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim);

/// The gradient of one element of all, divided among those that equal it.
Tensor shared_gradient(const Tensor& grad, const Tensor& input, const Tensor& result);

std::vector<OpDef> extremum_ops();

}  // namespace ohm::ops
