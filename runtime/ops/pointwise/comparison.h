// Comparisons, element by element: they give bool tensors and have no gradient.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

Tensor eq(const Tensor& input, const TensorOrNumber& other);
Tensor ne(const Tensor& input, const TensorOrNumber& other);
Tensor lt(const Tensor& input, const TensorOrNumber& other);
Tensor le(const Tensor& input, const TensorOrNumber& other);
Tensor gt(const Tensor& input, const TensorOrNumber& other);
Tensor ge(const Tensor& input, const TensorOrNumber& other);
Tensor isfinite(const Tensor& input);
Tensor isinf(const Tensor& input);
Tensor isnan(const Tensor& input);

/// Whether an element is zero, and whether two are not. bool.
Tensor logical_not(const Tensor& input);
Tensor logical_and(const Tensor& input, const Tensor& other);
Tensor logical_or(const Tensor& input, const Tensor& other);
Tensor logical_xor(const Tensor& input, const Tensor& other);

std::vector<OpDef> comparison_ops();

}  // namespace ohm::ops
