// The gradient of values that were picked from an input: by max, min, sort and topk.
#pragma once

#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// Zeros of the input's shape with each value's gradient where it came from along `dim`, which
/// `grad` and `indices` may have lost. Recorded under create_graph: its own gradient is what stands
/// at the picked places.
Tensor picked_gradient(const Tensor& grad, const Tensor& indices, const Shape& shape, int dim);

}  // namespace ohm::ops
