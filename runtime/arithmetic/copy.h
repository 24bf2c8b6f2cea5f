// The arithmetic that autograd itself needs: copies, casts, sums. No graph is recorded here; the
// ops of the same names in ops/ record one and call these.
#pragma once

#include "runtime/tensor/tensor.h"

namespace ohm {

/// Copies `source`, broadcast, cast and across devices, into `target`. Counts as a write.
void copy_into(const Tensor& target, const Tensor& source);

/// A dense copy with the strides of `tensor` where it is dense, else row-major.
Tensor copy_of(const Tensor& tensor);
/// `tensor` itself when it is row-major, else a row-major copy.
Tensor row_major(const Tensor& tensor);
/// `tensor` itself when it has this dtype, else a copy.
Tensor cast(const Tensor& tensor, DType dtype);
/// `tensor` itself when it is there, else a row-major copy on `device`.
Tensor transfer(const Tensor& tensor, Device device);

/// a + b in a new tensor. Pre-condition: same shape and dtype.
Tensor sum_of(const Tensor& a, const Tensor& b);
/// target += source, broadcast and cast. Counts as a write.
void accumulate_into(const Tensor& target, const Tensor& source);

/// The gradient of a broadcast: sums `tensor` over the dimensions in which `shape` is 1 or missing.
/// `tensor` itself when it has the shape already.
Tensor sum_to_shape(const Tensor& tensor, const Shape& shape);
/// The same in another dtype, where something has to be summed.
Tensor sum_to_shape(const Tensor& tensor, const Shape& shape, DType sums);

}  // namespace ohm
