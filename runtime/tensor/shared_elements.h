// Tensors whose elements share memory.
#pragma once

#include "runtime/tensor/tensor.h"

namespace ohm {

/// Whether several elements are one in memory: an expanded tensor.
inline bool has_elements_in_one_place(const Tensor& tensor) {
  for (int dim = 0; dim < tensor.dims(); ++dim) {
    if (tensor.strides()[dim] == 0 && tensor.shape()[dim] > 1) return tensor.numel() > 0;
  }
  return false;
}

}  // namespace ohm
