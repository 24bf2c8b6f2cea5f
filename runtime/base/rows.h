// A row-major tensor as rows along one dimension.
#pragma once

#include <cstdint>

#include "runtime/base/shape.h"

namespace ohm {

/// Line (o, i) starts at o · size · inner + i and its elements are `inner` apart.
struct Rows {
  std::int64_t outer = 1;
  std::int64_t size = 1;
  std::int64_t inner = 1;

  std::int64_t count() const { return outer * inner; }
};

inline Rows rows_along(const Shape& shape, int dim) {
  Rows rows;
  for (int i = 0; i < shape.dims(); ++i) {
    if (i < dim) rows.outer *= shape[i];
    if (i == dim) rows.size = shape[i];
    if (i > dim) rows.inner *= shape[i];
  }
  return rows;
}

/// Calls visit(start) with the first element of each row.
template <class F>
void for_each_row_start(const Rows& rows, F&& visit) {
  for (std::int64_t outer = 0; outer < rows.outer; ++outer) {
    for (std::int64_t inner = 0; inner < rows.inner; ++inner) {
      visit(outer * rows.size * rows.inner + inner);
    }
  }
}

}  // namespace ohm
