// Sums, means and extrema over all or some dimensions.
#pragma once

#include <optional>
#include <vector>

#include "runtime/ops/registry.h"

namespace ohm::ops {

/// Over `dim` (none: all). Integers and bools sum to int64. The gradient is an expanded view of
/// the incoming one: no bytes.
Tensor sum(const Tensor& input, const std::optional<Shape>& dim, bool keepdim,
           std::optional<DType> dtype);
Tensor sum(const Tensor& input);
/// Floating dtypes. The gradient is a new tensor of the input's size.
Tensor mean(const Tensor& input, const std::optional<Shape>& dim, bool keepdim);
Tensor mean(const Tensor& input);
/// The largest (smallest) element; the gradient is shared by all that equal it.
Tensor max(const Tensor& input);
Tensor min(const Tensor& input);
/// Index of the first largest element, int64; over all elements without `dim`. No gradient.
Tensor argmax(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim);
/// √Σx² over all elements, as gradient clipping needs it.
Tensor norm(const Tensor& input);
Tensor any(const Tensor& input);
Tensor all(const Tensor& input);

std::vector<OpDef> reduction_ops();

}  // namespace ohm::ops
