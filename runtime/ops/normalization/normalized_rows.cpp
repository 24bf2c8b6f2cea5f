#include "runtime/ops/normalization/normalized_rows.h"

namespace ohm::ops {

bool ends_with(const Shape& shape, const Shape& normalized) {
  const int first = shape.dims() - normalized.dims();
  bool is_suffix = first >= 0 && !normalized.empty();
  for (int dim = 0; is_suffix && dim < normalized.dims(); ++dim) {
    is_suffix = shape[first + dim] == normalized[dim];
  }
  return is_suffix;
}

NormalizedRows rows_of(const Shape& shape, const Shape& normalized) {
  NormalizedRows rows{1, normalized.numel()};
  for (int dim = 0; dim < shape.dims() - normalized.dims(); ++dim) rows.count *= shape[dim];
  return rows;
}

}  // namespace ohm::ops
