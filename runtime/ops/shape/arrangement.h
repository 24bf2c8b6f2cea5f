// Arrangements: the places that the elements of a result come from, for functors::Rearranged.
#pragma once

#include <algorithm>

#include "runtime/kernels/functors/gather_scatter.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// As it is: each element where it was.
inline functors::Arrangement arrangement_of(const Tensor& out, const Tensor& input) {
  functors::Arrangement arrangement;
  arrangement.dims = out.dims();
  std::copy(out.shape().begin(), out.shape().end(), arrangement.sizes);
  std::copy(input.shape().begin(), input.shape().end(), arrangement.input_sizes);
  std::copy(input.strides().begin(), input.strides().end(), arrangement.input_strides);
  return arrangement;
}

}  // namespace ohm::ops
