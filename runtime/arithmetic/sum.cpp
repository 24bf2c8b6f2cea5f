#include "runtime/arithmetic/sum.h"

#include "allocator_shim/base/assert.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/arithmetic/reduce.h"
#include "runtime/kernels/functors/generators.h"
#include "runtime/kernels/launch/elementwise.h"

namespace ohm {

Tensor sum_of(const Tensor& a, const Tensor& b) {
  OHM_ASSERT(a.shape() == b.shape() && a.dtype() == b.dtype(), "gradients of one tensor differ");
  Tensor out = empty_for_loop(a.shape(), {&a, &b}, options_of(a));
  map_elements(out, out.dtype(), functors::Sum(), a, b);
  return out;
}

void accumulate_into(const Tensor& target, const Tensor& source) {
  target.bump_version();
  map_elements(target, target.dtype(), functors::Sum(), target, source);
}

Tensor sum_to_shape(const Tensor& tensor, const Shape& shape) {
  return sum_to_shape(tensor, shape, tensor.dtype());
}

Tensor sum_to_shape(const Tensor& tensor, const Shape& shape, DType sums) {
  if (tensor.shape() == shape) return tensor;
  return without_leading_dims(sum_keeping_dims(tensor, shape, sums), tensor.dims() - shape.dims());
}

Tensor sum_keeping_dims(const Tensor& tensor, const Shape& shape, DType sums) {
  const int missing = tensor.dims() - shape.dims();
  DimMask folded = all_dims(missing);
  for (int dim = missing; dim < tensor.dims(); ++dim) {
    if (shape[dim - missing] == 1 && tensor.shape()[dim] != 1) folded = with(folded, dim);
  }
  return reduce_sum(tensor, folded, true, sums);
}

Tensor without_leading_dims(const Tensor& tensor, int count) {
  if (count == 0) return tensor;
  Shape shape, strides;
  for (int dim = count; dim < tensor.dims(); ++dim) {
    shape.push_back(tensor.shape()[dim]);
    strides.push_back(tensor.strides()[dim]);
  }
  return make_view(tensor, shape, strides, tensor.impl()->offset);
}

}  // namespace ohm
