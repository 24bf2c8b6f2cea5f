// The gradients of a convolution's gradients: what create_graph records.
#pragma once

#include <functional>
#include <vector>

#include "runtime/autograd/recorder.h"
#include "runtime/ops/convolution/conv_again.h"
#include "runtime/ops/host/layer_gradients.h"

namespace ohm::ops {

/// The operands of a convolution's backward pass.
struct ConvolutionOperands {
  Tensor grad;
  Tensor input;
  Tensor weight;
};

/// The gradients of grad, input and weight, given those of the three gradients that the backward
/// pass made of them (undefined: none came). What can be made is made, asked for or not, as PyTorch
/// makes it.
std::vector<Tensor> second_gradients(const ConvolutionShape& shape, const LayerGradients& incoming,
                                     const ConvolutionOperands& operands);
/// The same of a transposed convolution.
std::vector<Tensor> transposed_second_gradients(const ConvolutionShape& shape,
                                                const Shape& output_padding,
                                                const LayerGradients& incoming,
                                                const ConvolutionOperands& operands);

/// Runs `backward`, which makes three gradients of the call's, without a graph, and records what
/// `second` makes of theirs.
TensorList recorded_convolution_backward(
    const BackwardCall& call, const std::function<TensorList()>& backward,
    const std::function<std::vector<Tensor>(const LayerGradients&, const ConvolutionOperands&)>&
        second);

}  // namespace ohm::ops
