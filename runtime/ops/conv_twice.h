// The gradients of a convolution's gradients: what create_graph records.
#pragma once

#include <functional>
#include <vector>

#include "runtime/base/shape.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// A convolution of one group, without its operands.
struct ConvolutionShape {
  Shape stride;
  Shape padding;
  Shape dilation;
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

  std::vector<Tensor> operator()(const std::vector<Tensor>& incoming,
                                 const ConvolutionOperands& operands) const;
};

}  // namespace ohm::ops
