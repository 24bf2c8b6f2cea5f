// Complex tensors made of two real ones, and the other way round.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// real + imag · i, and abs · e^(angle · i), of two tensors of one dtype, float32 or float64,
/// broadcast. Throws std::invalid_argument naming the dtypes.
Tensor complex(const Tensor& real, const Tensor& imag);
Tensor polar(const Tensor& abs, const Tensor& angle);
/// The angle of complex numbers, in a real tensor.
Tensor angle(const Tensor& input);
std::vector<OpDef> complex_number_ops();

/// abs() of a complex tensor. Saves it.
Tensor abs_of_complex(const Tensor& input);

}  // namespace ohm::ops
