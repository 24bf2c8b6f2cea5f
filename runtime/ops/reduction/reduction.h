// Sums and means over all or some dimensions.
#pragma once

#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// Over `dim` (none: all). Integers and bools sum to int64. The gradient is an expanded view of
/// the incoming one: no bytes.
Tensor sum(const Tensor& input, const std::optional<Shape>& dim, bool keepdim,
           std::optional<DType> dtype);
Tensor sum(const Tensor& input);
/// Floating dtypes. The gradient is a new tensor of the input's size.
Tensor mean(const Tensor& input, const std::optional<Shape>& dim, bool keepdim);
/// Summed as `dtype`.
Tensor mean(const Tensor& input, const std::optional<Shape>& dim, bool keepdim,
            std::optional<DType> dtype);
Tensor mean(const Tensor& input);
Tensor any(const Tensor& input);
Tensor any(const Tensor& input, const std::optional<Shape>& dim, bool keepdim);
Tensor all(const Tensor& input);
Tensor all(const Tensor& input, const std::optional<Shape>& dim, bool keepdim);

std::vector<OpDef> reduction_ops();

}  // namespace ohm::ops
