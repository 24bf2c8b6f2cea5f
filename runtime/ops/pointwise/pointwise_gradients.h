// Gradients of functions that are computed element by element, of the incoming gradient and of what
// was kept: the result y, or the input x.
#pragma once

#include "runtime/tensor/tensor.h"

namespace ohm::ops {

Tensor sigmoid_gradient(const Tensor& grad, const Tensor& y);
Tensor tanh_gradient(const Tensor& grad, const Tensor& y);
Tensor tan_gradient(const Tensor& grad, const Tensor& y);
Tensor erf_gradient(const Tensor& grad, const Tensor& x);
Tensor log2_gradient(const Tensor& grad, const Tensor& x);
Tensor log10_gradient(const Tensor& grad, const Tensor& x);
Tensor log1p_gradient(const Tensor& grad, const Tensor& x);
Tensor expm1_gradient(const Tensor& grad, const Tensor& y);
Tensor reciprocal_gradient(const Tensor& grad, const Tensor& y);
Tensor rsqrt_gradient(const Tensor& grad, const Tensor& y);
Tensor sin_gradient(const Tensor& grad, const Tensor& x);
Tensor cos_gradient(const Tensor& grad, const Tensor& x);

}  // namespace ohm::ops
