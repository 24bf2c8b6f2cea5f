// The gradients of layer_norm's gradients.
#pragma once

#include <cstdint>

#include "runtime/autograd/node.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// What the first backward pass had. Rows are normalised one by one.
struct LayerNormPass {
  Tensor grad;
  Tensor input;
  Tensor weight;  ///< may be undefined
  Tensor mean;    ///< one for each row
  Tensor rstd;
  std::int64_t rows = 1;
  std::int64_t length = 1;
};

/// The gradients of a pass's results; undefined where there is none.
struct LayerNormResultGradients {
  Tensor of_input;
  Tensor of_weight;
  Tensor of_bias;
};

/// The gradients of `grad`, `input` and `weight`, step by step in PyTorch's order.
TensorList layer_norm_second_gradients(const LayerNormPass& pass,
                                       const LayerNormResultGradients& given);

}  // namespace ohm::ops
