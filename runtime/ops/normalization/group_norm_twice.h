// The gradients of group_norm as PyTorch makes them where they are differentiated again, or where
// the statistics have a gradient: of ops that are recorded one by one.
#pragma once

#include "runtime/ops/host/layer_gradients.h"

namespace ohm::ops {

/// What group_norm kept, and the gradients of its three results (undefined: none came).
struct GroupNormPass {
  Tensor grad;
  Tensor grad_of_mean;
  Tensor grad_of_rstd;
  Tensor input;
  Tensor mean;
  Tensor rstd;
  Tensor weight;  ///< may be undefined
  std::int64_t groups = 1;
  double eps = 0;
};

LayerGradients group_norm_gradients_by_ops(const GroupNormPass& pass,
                                           const WantedGradients& wanted);

/// Adds what the gradients of the statistics give, both of which there have to be, to the input's
/// gradient that the result's made (undefined: none came). The pass has no gradient of the result.
void add_statistics_gradients(const GroupNormPass& pass, Tensor& made);

}  // namespace ohm::ops
