// The elements of a tensor, apart from its place in the graph.
#pragma once

#include "runtime/tensor/tensor.h"

namespace ohm {

/// The same elements apart from the graph. Saved tensors do not notice what is written to them
/// there, as in PyTorch: their writes have a count of their own.
Tensor data_of(const Tensor& tensor);

/// `tensor` looks at the elements that `data` looks at, from now on. It stays the same object:
/// optimizers and graphs that know it see them, and saved tensors do not count it as a write.
void set_data(const Tensor& tensor, const Tensor& data);

}  // namespace ohm
