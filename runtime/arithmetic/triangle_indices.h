// The places of a matrix's elements on one side of a diagonal.
#pragma once

#include <cstdint>

#include "runtime/arithmetic/factories.h"

namespace ohm {

/// A matrix's sizes, and how far to the right its diagonal starts.
struct TriangleOf {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t offset = 0;
};

/// Row and column of each element on the diagonal and below it (above it), row by row: [2, count].
/// Throws std::invalid_argument where a size is negative or larger than 2³¹ − 1.
Tensor tril_indices(const TriangleOf& triangle, const TensorOptions& options);
Tensor triu_indices(const TriangleOf& triangle, const TensorOptions& options);

}  // namespace ohm
