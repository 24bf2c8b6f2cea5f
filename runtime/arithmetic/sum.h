// Sums of gradients, as autograd itself needs them. No graph is recorded here.
#pragma once

#include "runtime/tensor/tensor.h"

namespace ohm {

/// a + b in a new tensor. Pre-condition: same shape and dtype.
Tensor sum_of(const Tensor& a, const Tensor& b);
/// target += source, broadcast and cast. Counts as a write.
void accumulate_into(const Tensor& target, const Tensor& source);

/// The gradient of a broadcast: sums `tensor` over the dimensions in which `shape` is 1 or missing.
/// `tensor` itself when it has the shape already.
Tensor sum_to_shape(const Tensor& tensor, const Shape& shape);
/// The same in another dtype, where something has to be summed.
Tensor sum_to_shape(const Tensor& tensor, const Shape& shape, DType sums);
/// Its two steps: the sum, in which missing dimensions are of size 1, and a view that drops them.
Tensor sum_keeping_dims(const Tensor& tensor, const Shape& shape, DType sums);
/// A view without the first `count` dimensions, each of size 1; `tensor` itself without any.
Tensor without_leading_dims(const Tensor& tensor, int count);

}  // namespace ohm
