// Convolutions of several groups by PyTorch's own kernels, which know no groups: each is a
// convolution of its own, on copies of its channels, and what all made is joined.
#pragma once

#include <functional>

#include "runtime/autograd/node.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// The convolution of one group: of input, weight and bias, which may be undefined.
using GroupForward = std::function<Tensor(const Tensor&, const Tensor&, const Tensor&)>;
/// Its three gradients, undefined where they are not wanted: of gradient, input and weight.
using GroupBackward = std::function<TensorList(const Tensor&, const Tensor&, const Tensor&)>;

/// Pre-condition: `groups` divides the channels, the filters and the bias.
Tensor convolve_by_group(std::int64_t groups, const Tensor& input, const Tensor& weight,
                         const Tensor& bias, const GroupForward& convolve);

TensorList convolution_gradients_by_group(std::int64_t groups, const Tensor& grad,
                                          const Tensor& input, const Tensor& weight,
                                          const GroupBackward& gradients);

}  // namespace ohm::ops
