#include "runtime/tensor/elementwise.h"

#include "allocator_shim/observe/assert.h"

namespace ohm {

Shape broadcast_strides(const Tensor& tensor, const Shape& shape) {
  const int missing = shape.dims() - tensor.dims();
  OHM_ASSERT(missing >= 0, "an operand has more dimensions than the result");
  Shape strides(shape.dims(), 0);
  for (int dim = 0; dim < tensor.dims(); ++dim) {
    const std::int64_t size = tensor.shape()[dim];
    OHM_ASSERT(size == 1 || size == shape[missing + dim], "an operand does not broadcast");
    if (size != 1) strides[missing + dim] = tensor.strides()[dim];
  }
  return strides;
}

}  // namespace ohm
