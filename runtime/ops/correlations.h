// Covariances and correlation coefficients of variables.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// The covariances [variables, variables] of [variables, observations]; a vector is one variable,
/// whose variance is a number. `correction` is taken off the number of observations, each of which
/// counts `fweights` times and weighs `aweights`: vectors with an element for each.
Tensor cov(const Tensor& input, std::int64_t correction, const std::optional<Tensor>& fweights,
           const std::optional<Tensor>& aweights);
/// Covariances divided by both deviations: between −1 and 1.
Tensor corrcoef(const Tensor& input);

std::vector<OpDef> correlation_ops();

}  // namespace ohm::ops
