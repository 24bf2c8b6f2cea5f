// The passes of a transposed convolution, by the library or by PyTorch's own kernel, without a
// graph.
#pragma once

#include "runtime/autograd/node.h"
#include "runtime/ops/convolution/conv_twice.h"
#include "runtime/ops/convolution/host/convolution.h"
#include "runtime/ops/host/layer_gradients.h"

namespace ohm::ops {

struct TransposePlan {
  ConvGeometry geometry;     ///< of the convolution that this is the gradient of
  bool unfolds = false;      ///< PyTorch's own kernel, with a buffer of columns
  bool is_of_lines = false;  ///< the images have one row, and are row-major for the library
};

/// The result; an undefined bias is none.
Tensor transpose_convolved(const TransposePlan& plan, const Tensor& input, const Tensor& weight,
                           const Tensor& bias);

/// The gradients of input, weight and bias; undefined where they are not wanted. Each path makes
/// them in its own order.
TensorList transposed_convolution_gradients(const TransposePlan& plan,
                                            const WantedGradients& wanted,
                                            const ConvolutionOperands& operands);

}  // namespace ohm::ops
