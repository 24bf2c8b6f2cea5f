// Further functions of two tensors, element by element, with broadcasting. Floating dtypes.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// log(eˣ + eʸ), and the same with powers of 2.
Tensor logaddexp(const Tensor& input, const Tensor& other);
Tensor logaddexp2(const Tensor& input, const Tensor& other);
/// sqrt(x² + y²). Keeps both and the result.
Tensor hypot(const Tensor& input, const Tensor& other);
/// What is left of a division towards 0, with the sign of the input.
Tensor fmod(const Tensor& input, const TensorOrNumber& other);

std::vector<OpDef> pair_function_ops();

}  // namespace ohm::ops
