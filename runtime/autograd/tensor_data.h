// The elements of a tensor, apart from its place in the graph.
#pragma once

#include "runtime/tensor/tensor.h"

namespace ohm {

/// `tensor` looks at the elements that `data` looks at, from now on. It stays the same object:
/// optimizers and graphs that know it see them.
void set_data(const Tensor& tensor, const Tensor& data);

}  // namespace ohm
