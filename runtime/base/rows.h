// A row-major tensor as lines along one dimension.
#pragma once

#include <cstdint>

#include "runtime/base/shape.h"

namespace ohm::ops {

/// Line (o, i) starts at o · size · inner + i and its elements are `inner` apart.
struct Lines {
  std::int64_t outer = 1;
  std::int64_t size = 1;
  std::int64_t inner = 1;

  std::int64_t count() const { return outer * inner; }
};

inline Lines lines_along(const Shape& shape, int dim) {
  Lines lines;
  for (int i = 0; i < shape.dims(); ++i) {
    if (i < dim) lines.outer *= shape[i];
    if (i == dim) lines.size = shape[i];
    if (i > dim) lines.inner *= shape[i];
  }
  return lines;
}

/// Calls visit(start) with the first element of each line.
template <class F>
void for_each_line(const Lines& lines, F&& visit) {
  for (std::int64_t outer = 0; outer < lines.outer; ++outer) {
    for (std::int64_t inner = 0; inner < lines.inner; ++inner) {
      visit(outer * lines.size * lines.inner + inner);
    }
  }
}

}  // namespace ohm::ops
