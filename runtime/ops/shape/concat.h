// Tensors put together to one: cat and stack.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// One new tensor with the pieces behind one another. Their gradients are views of one gradient.
Tensor cat(const std::vector<Tensor>& tensors, std::int64_t dim);
Tensor stack(const std::vector<Tensor>& tensors, std::int64_t dim);

std::vector<OpDef> concat_ops();

}  // namespace ohm::ops
