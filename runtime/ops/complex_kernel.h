// Element-wise kernels of complex tensors. They run on the host, whatever device the tensors are
// on: elements go there first (Note [Two copies of values]).
//
// Operands broadcast to the output's shape and may be of any dtype. Those that are lazily
// conjugated are resolved first, each into a tensor that lives as long as the kernel runs, as in
// PyTorch. No graph is recorded here.
#pragma once

#include "runtime/ops/op_info.h"
#include "runtime/ops/value.h"

namespace ohm::ops {

enum class ComplexFormula : std::uint8_t { sum, product, quotient };

/// a + scale · b, a · b or a / b in a new tensor of the complex dtype `dtype`.
Tensor complex_new(const OpInfo& info, const TensorOrNumber& a, const TensorOrNumber& b,
                   DType dtype, ComplexFormula formula, double scale = 1.0);
/// The same over the first operand, which is complex.
void complex_inplace(const Tensor& a, const TensorOrNumber& b, ComplexFormula formula,
                     double scale = 1.0);

/// −x in a new tensor.
Tensor complex_negated(const Tensor& input);
/// x times the imaginary unit in a new tensor.
Tensor complex_turned(const Tensor& input);
/// x / |x| in a new tensor; 0 for 0.
Tensor complex_signs(const Tensor& input);

/// |x| and the angle of x in a new real tensor.
Tensor complex_absolute(const Tensor& input);
Tensor complex_angle(const Tensor& input);

/// real + imaginary · i and absolute · e^(angle · i) in a new complex tensor. Pre-condition: both
/// are of one of the dtypes float32 and float64.
Tensor complex_of(const OpInfo& info, const Tensor& real, const Tensor& imaginary);
Tensor complex_of_polar(const OpInfo& info, const Tensor& absolute, const Tensor& angle);

}  // namespace ohm::ops
