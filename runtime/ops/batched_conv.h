// Convolutions of samples that vmap stands for: the samples become images, channels or groups of
// one convolution. No graph is recorded here.
#pragma once

#include "runtime/autograd/node.h"
#include "runtime/ops/conv_again.h"
#include "runtime/ops/host/layer_gradients.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// input ⋆ weight + bias, of images; an undefined bias is none.
/// Throws std::invalid_argument where filters of several samples have groups, and for lines.
Tensor batched_convolution(const ConvolutionShape& shape, const Tensor& input, const Tensor& weight,
                           const Tensor& bias);

/// The gradients of input, weight and bias; undefined where they are not wanted.
/// Throws std::invalid_argument as batched_convolution() does.
TensorList batched_convolution_gradients(const ConvolutionShape& shape,
                                         const WantedGradients& wanted, const Tensor& grad,
                                         const Tensor& input, const Tensor& weight);

}  // namespace ohm::ops
