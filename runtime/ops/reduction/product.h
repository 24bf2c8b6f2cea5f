// Products, sums of exponentials and largest values over dimensions.
#pragma once

#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// The product of all elements, or along one dimension. Keeps its input and its result.
Tensor prod(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim);

/// log(sum(exp(input))) over dimensions, safe for large elements. Keeps its input and its result.
Tensor logsumexp(const Tensor& input, const Shape& dim, bool keepdim);

/// The largest and smallest elements over dimensions (none: all). The gradient is divided among the
/// elements that equal the result.
Tensor amax(const Tensor& input, const std::optional<Shape>& dim, bool keepdim);
Tensor amin(const Tensor& input, const std::optional<Shape>& dim, bool keepdim);

std::vector<OpDef> product_ops();

}  // namespace ohm::ops
