#include "runtime/base/dim_mask.h"

namespace ohm {

Shape reduced_shape(const Shape& shape, DimMask folded, bool keep_dims) {
  Shape result;
  for (int dim = 0; dim < shape.dims(); ++dim) {
    if (!contains(folded, dim)) {
      result.push_back(shape[dim]);
    } else if (keep_dims) {
      result.push_back(1);
    }
  }
  return result;
}

Shape reduced_strides(const Shape& shape, DimMask folded) {
  Shape strides = contiguous_strides(reduced_shape(shape, folded, true));
  for (int dim = 0; dim < shape.dims(); ++dim) {
    if (contains(folded, dim)) strides[dim] = 0;
  }
  return strides;
}

}  // namespace ohm
