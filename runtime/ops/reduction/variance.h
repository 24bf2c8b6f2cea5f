// Variance and standard deviation over all or some dimensions.
#pragma once

#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// Σ(x − mean)² / (n − correction). Saves the input.
Tensor var(const Tensor& input, const std::optional<Shape>& dim, double correction, bool keepdim);
/// Its root. Saves input and result.
Tensor std_deviation(const Tensor& input, const std::optional<Shape>& dim, double correction,
                     bool keepdim);

std::vector<OpDef> variance_ops();

}  // namespace ohm::ops
