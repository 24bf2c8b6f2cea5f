// Scans: reductions whose results on the way are kept.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// out[i] = Σ input[0…i] along `dim`. Its gradient is mirrored, summed up and mirrored again.
Tensor cumsum(const Tensor& input, std::int64_t dim, std::optional<DType> dtype = std::nullopt);

/// Running products along `dim`. The gradient needs values that are not 0.
Tensor cumprod(const Tensor& input, std::int64_t dim, std::optional<DType> dtype = std::nullopt);

/// Logarithms of the sums of exponentials so far. Saves the input and the result.
Tensor logcumsumexp(const Tensor& input, std::int64_t dim);

std::vector<OpDef> scan_ops();

}  // namespace ohm::ops
