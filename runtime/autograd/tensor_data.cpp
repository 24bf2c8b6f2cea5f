#include "runtime/autograd/tensor_data.h"

#include "runtime/autograd/variable.h"

namespace ohm {

void set_data(const Tensor& tensor, const Tensor& data) {
  TensorImpl& impl = *tensor.impl();
  const TensorImpl& source = *data.impl();
  if (tensor.dtype() != data.dtype() || tensor.device() != data.device()) {
    forget_accumulator(tensor);
  }
  impl.storage = source.storage;
  impl.sizes = source.sizes;
  impl.strides = source.strides;
  impl.offset = source.offset;
  impl.numel = source.numel;
  impl.dtype = source.dtype;
  impl.is_contiguous = source.is_contiguous;
}

}  // namespace ohm
