// The gradients of layer_norm's gradients: what create_graph records.
#pragma once

#include <cstdint>

#include "runtime/ops/host/layer_gradients.h"

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

/// Records the gradients that a pass made, where something of it wants a gradient: under
/// create_graph they have gradients of their own.
void record_layer_norm_gradients(const LayerNormPass& pass, const LayerGradients& out);

}  // namespace ohm::ops
