// The gradients that a layer's backward pass makes: of a normalisation, of a convolution.
#pragma once

#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// Undefined where a gradient is not wanted, or none came.
struct LayerGradients {
  Tensor input;
  Tensor weight;
  Tensor bias;
};

struct WantedGradients {
  bool input;
  bool weight;
  bool bias;
};

}  // namespace ohm::ops
