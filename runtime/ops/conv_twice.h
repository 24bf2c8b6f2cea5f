// The gradients of a convolution's gradients: what create_graph records.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/autograd/recorder.h"
#include "runtime/base/shape.h"
#include "runtime/ops/host/layer_gradients.h"

namespace ohm::ops {

/// A convolution without its operands.
struct ConvolutionShape {
  Shape stride;
  Shape padding;
  Shape dilation;
  std::int64_t groups = 1;
};

/// The operands of a convolution's backward pass.
struct ConvolutionOperands {
  Tensor grad;
  Tensor input;
  Tensor weight;
};

/// A convolution without bias, recorded where grad mode is on.
using Convolve =
    std::function<Tensor(const Tensor& input, const Tensor& weight, const ConvolutionShape& shape)>;

/// The gradients of grad, input and weight, given those of the three gradients that the backward
/// pass made of them (undefined: none came). What can be made is made, asked for or not, as PyTorch
/// makes it.
struct SecondGradients {
  ConvolutionShape shape;
  Convolve convolve;
  bool is_of_lines = false;

  std::vector<Tensor> operator()(const LayerGradients& incoming,
                                 const ConvolutionOperands& operands) const;
};

/// The same of a transposed convolution.
struct TransposedSecondGradients {
  ConvolutionShape shape;
  Convolve transpose;  ///< the transposed convolution that this is of
  Convolve convolve;

  std::vector<Tensor> operator()(const LayerGradients& incoming,
                                 const ConvolutionOperands& operands) const;
};

/// Runs `backward`, which makes three gradients of the call's, without a graph, and records what
/// `second` makes of theirs.
TensorList recorded_convolution_backward(
    const BackwardCall& call, const std::function<TensorList()>& backward,
    const std::function<std::vector<Tensor>(const LayerGradients&, const ConvolutionOperands&)>&
        second);

}  // namespace ohm::ops
