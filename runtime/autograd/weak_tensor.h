// A look at a tensor that does not keep it.
#pragma once

#include <memory>

#include "runtime/tensor/tensor.h"

namespace ohm {

class WeakTensor {
 public:
  /// Pre-condition: `tensor` is defined.
  explicit WeakTensor(const Tensor& tensor);

  /// The tensor; an undefined one when it is gone.
  Tensor lock() const;

 private:
  std::weak_ptr<TensorImpl* const> impl_;
};

}  // namespace ohm
