// The gradients of cross-entropies of two classes where they are differentiated again: what
// create_graph records.
#pragma once

#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// What a backward pass had, and the factor of a mean (1 where the losses are summed or kept).
struct BinaryCrossEntropyPass {
  Tensor grad;
  Tensor input;
  Tensor target;
  Tensor weight;      ///< may be undefined
  Tensor pos_weight;  ///< of logits; may be undefined
  double factor = 1.0;
};

/// Gives `out`, the gradient of a prediction, a gradient of its own.
void record_bce_gradient(const BinaryCrossEntropyPass& pass, const Tensor& out);

/// The gradient of a target that is not a logit, of ops that record themselves.
Tensor recorded_bce_target_gradient(const BinaryCrossEntropyPass& pass);

/// The gradient of logits, of ops that record themselves.
Tensor recorded_logit_gradient(const BinaryCrossEntropyPass& pass);
/// The gradient of the target of logits: of ops too, recorded or not.
Tensor logit_target_gradient(const BinaryCrossEntropyPass& pass);

}  // namespace ohm::ops
