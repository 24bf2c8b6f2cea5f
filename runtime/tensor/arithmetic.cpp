#include "runtime/tensor/arithmetic.h"

#include "allocator_shim/base/assert.h"
#include "runtime/tensor/elementwise.h"
#include "runtime/tensor/factories.h"
#include "runtime/tensor/formulas.h"
#include "runtime/tensor/reduce.h"

namespace ohm {

namespace {

/// The same bytes in the same order.
bool is_plain_copy(const Tensor& target, const Tensor& source) {
  return target.has_values() && source.has_values() && target.dtype() == source.dtype() &&
         target.shape() == source.shape() && target.is_contiguous() && source.is_contiguous();
}

}  // namespace

void copy_into(const Tensor& target, const Tensor& source) {
  target.storage().bump_version();
  if (is_plain_copy(target, source)) {
    Storage::copy(target.storage(), target.offset_bytes(), source.storage(), source.offset_bytes(),
                  target.nbytes());
    return;
  }
  visit_dtype(target.dtype(), [&]<class Out>(TypeTag<Out>) {
    visit_dtype(source.dtype(), [&]<class In>(TypeTag<In>) {
      map_unary<Out, In>(target, source, formulas::Copy());
    });
  });
}

Tensor copy_of(const Tensor& tensor) {
  Tensor copy = empty_like(tensor);
  copy_into(copy, tensor);
  return copy;
}

Tensor row_major(const Tensor& tensor) {
  if (tensor.is_contiguous()) return tensor;
  Tensor copy = empty(tensor.shape(), options_of(tensor));
  copy_into(copy, tensor);
  return copy;
}

Tensor cast(const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  Tensor copy = empty_like(tensor, dtype);
  copy_into(copy, tensor);
  return copy;
}

Tensor transfer(const Tensor& tensor, Device device) {
  if (tensor.device() == device) return tensor;
  Tensor copy = empty(tensor.shape(), {tensor.dtype(), device});
  copy_into(copy, tensor);
  return copy;
}

Tensor sum_of(const Tensor& a, const Tensor& b) {
  OHM_ASSERT(a.shape() == b.shape() && a.dtype() == b.dtype(), "gradients of one tensor differ");
  Tensor out = empty_like(a);
  visit_dtype(out.dtype(),
              [&]<class T>(TypeTag<T>) { map_binary<T, T>(out, a, b, formulas::Sum()); });
  return out;
}

void accumulate_into(const Tensor& target, const Tensor& source) {
  target.storage().bump_version();
  visit_dtype(target.dtype(), [&]<class T>(TypeTag<T>) {
    map_binary<T, T>(target, target, source, formulas::Sum());
  });
}

Tensor sum_to_shape(const Tensor& tensor, const Shape& shape) {
  return sum_to_shape(tensor, shape, tensor.dtype());
}

Tensor sum_to_shape(const Tensor& tensor, const Shape& shape, DType sums) {
  if (tensor.shape() == shape) return tensor;
  const int missing = tensor.dims() - shape.dims();
  DimMask folded = all_dims(missing);
  for (int dim = missing; dim < tensor.dims(); ++dim) {
    if (shape[dim - missing] == 1 && tensor.shape()[dim] != 1) folded = with(folded, dim);
  }
  const Tensor sum = reduce_sum(tensor, folded, true, sums);
  // The missing leading dimensions are of size 1 now: drop them with a view.
  Shape strides;
  for (int dim = missing; dim < sum.dims(); ++dim) strides.push_back(sum.strides()[dim]);
  return missing == 0 ? sum : make_view(sum, shape, strides, 0);
}

}  // namespace ohm
