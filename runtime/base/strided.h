// Walking over strided tensors: one loop for every kernel that does not need contiguous memory.
#pragma once

#include <cstdint>

#include "runtime/base/shape.h"

namespace ohm {

/// Calls `visit(offset)` for each element in row-major order, with its offset in elements.
template <class F>
void for_each_offset(const Shape& shape, const Shape& strides, F&& visit) {
  const std::int64_t numel = shape.numel();
  if (numel == 0) return;
  const int last = shape.dims() - 1;
  if (last < 0) {
    visit(std::int64_t{0});
    return;
  }
  Shape index(shape.dims(), 0);
  std::int64_t offset = 0;
  for (std::int64_t done = 0; done < numel; done += shape[last]) {
    for (std::int64_t i = 0; i < shape[last]; ++i) visit(offset + i * strides[last]);
    for (int dim = last - 1; dim >= 0; --dim) {
      offset += strides[dim];
      if (++index[dim] < shape[dim]) break;
      offset -= strides[dim] * shape[dim];
      index[dim] = 0;
    }
  }
}

}  // namespace ohm
