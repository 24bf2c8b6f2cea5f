#include "runtime/autograd/tensor_data.h"

#include <cstdint>

#include "runtime/autograd/variable.h"

namespace ohm {
namespace {

IntrusivePtr<VersionCounter> counter_from(std::uint32_t version) {
  return IntrusivePtr<VersionCounter>(new VersionCounter(version));
}

}  // namespace

Tensor data_of(const Tensor& tensor) {
  Tensor data = detached_alias(tensor);
  data.impl()->own_version = counter_from(0);
  return data;
}

void set_data(const Tensor& tensor, const Tensor& data) {
  TensorImpl& impl = *tensor.impl();
  const TensorImpl& source = *data.impl();
  if (tensor.dtype() != data.dtype() || tensor.device() != data.device()) {
    forget_accumulator(tensor);
  }
  if (!impl.own_version) impl.own_version = counter_from(tensor.version());
  impl.storage = source.storage;
  impl.sizes = source.sizes;
  impl.strides = source.strides;
  impl.offset = source.offset;
  impl.numel = source.numel;
  impl.dtype = source.dtype;
  impl.is_contiguous = source.is_contiguous;
}

}  // namespace ohm
