#include "runtime/arithmetic/laid_out.h"

#include "runtime/arithmetic/copy.h"

namespace ohm {

Tensor empty(const Shape& shape, const TensorOptions& options, MemoryFormat format) {
  return empty_strided(shape, strides_in(format, shape), options);
}

Tensor laid_out(const Tensor& tensor, MemoryFormat format) {
  if (lies_in(tensor, format)) return tensor;
  Tensor copy = empty(tensor.shape(), options_of(tensor), format);
  copy_into(copy, tensor);
  return copy;
}

}  // namespace ohm
