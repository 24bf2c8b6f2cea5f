// The last dimensions of a tensor as rows that are normalised one by one.
#pragma once

#include <cstdint>

#include "runtime/base/shape.h"

namespace ohm::ops {

struct NormalizedRows {
  std::int64_t count = 1;
  std::int64_t length = 1;
};

/// Whether `shape` ends with `normalized`, which has a dimension or more.
bool ends_with(const Shape& shape, const Shape& normalized);

/// Pre-condition: ends_with(shape, normalized).
NormalizedRows rows_of(const Shape& shape, const Shape& normalized);

}  // namespace ohm::ops
