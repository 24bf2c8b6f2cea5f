// Copies of tensors: dense, in another dtype, on another device. No graph is recorded here; the ops
// of the same names in ops/ record one and call these.
#pragma once

#include "runtime/tensor/tensor.h"

namespace ohm {

/// Copies `source`, broadcast, cast and across devices, into `target`. Counts as a write.
void copy_into(const Tensor& target, const Tensor& source);

/// A dense copy with the strides of `tensor` where it is dense, else row-major.
Tensor copy_of(const Tensor& tensor);
/// A copy of all that the tensor's storage holds, as one line.
Tensor copy_of_storage(const Tensor& tensor);
/// `tensor` itself when it is row-major, else a row-major copy.
Tensor row_major(const Tensor& tensor);
/// `tensor` itself when it has this dtype, else a copy.
Tensor cast(const Tensor& tensor, DType dtype);
/// `tensor` itself when it is there, else a row-major copy on `device`.
Tensor transfer(const Tensor& tensor, Device device);

}  // namespace ohm
