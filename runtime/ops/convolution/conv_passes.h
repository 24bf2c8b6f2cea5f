// The passes of a convolution of images or volumes, by the library or by PyTorch's own kernels,
// without a graph.
#pragma once

#include "runtime/autograd/node.h"
#include "runtime/ops/convolution/conv_plan.h"
#include "runtime/ops/host/layer_gradients.h"

namespace ohm::ops {

/// input ⋆ weight + bias; an undefined bias is none.
Tensor convolved(const ConvPlan& plan, const Tensor& input, const Tensor& weight,
                 const Tensor& bias);

/// The gradients of input, weight and bias; undefined where they are not wanted. Each path makes
/// them in its own order.
TensorList convolution_gradients(const ConvPlan& plan, const WantedGradients& wanted,
                                 const Tensor& grad, const Tensor& input, const Tensor& weight);

}  // namespace ohm::ops
