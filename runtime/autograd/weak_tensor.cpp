#include "runtime/autograd/weak_tensor.h"

#include "runtime/autograd/variable.h"

namespace ohm {

WeakTensor::WeakTensor(const Tensor& tensor) {
  std::shared_ptr<TensorImpl* const>& self = ensure_autograd_meta(tensor).self;
  if (!self) self = std::make_shared<TensorImpl* const>(tensor.impl());
  impl_ = self;
}

Tensor WeakTensor::lock() const {
  const std::shared_ptr<TensorImpl* const> impl = impl_.lock();
  return impl ? Tensor(IntrusivePtr<TensorImpl>(*impl)) : Tensor();
}

}  // namespace ohm
