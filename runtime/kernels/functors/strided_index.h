// An index into strided memory by the number of an element: for nvcc and the host alike.
#pragma once

#include <cstdint>

#include "runtime/base/divisor.h"
#include "runtime/base/shape.h"

namespace ohm::functors {

/// Dimensions that are walked through in row-major order.
struct StridedIndex {
  int dims = 0;
  Divisor sizes[kMaxDims] = {};
  std::int64_t strides[kMaxDims] = {};

  constexpr std::int64_t offset(std::int64_t i) const {
    std::int64_t offset = 0;
    for (int dim = dims - 1; dim > 0; --dim) {
      const std::int64_t row_index = i / sizes[dim];
      offset += (i - row_index * sizes[dim]) * strides[dim];
      i = row_index;
    }
    return dims == 0 ? 0 : offset + i * strides[0];
  }
};

}  // namespace ohm::functors
