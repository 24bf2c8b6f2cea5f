// The gradients of batch_norm's gradients: what create_graph records.
#pragma once

#include "runtime/ops/host/layer_gradients.h"

namespace ohm::ops {

/// What the first backward pass had. Channels [N, C, …] are normalised one by one.
struct BatchNormPass {
  Tensor grad;
  Tensor input;
  Tensor weight;  ///< may be undefined
  /// Where the statistics are the input's: its mean and reciprocal deviation, one for each channel.
  Tensor mean;
  Tensor invstd;
  /// Else those that were given.
  Tensor running_mean;
  Tensor running_var;
  bool is_training = false;
  double eps = 0;
};

/// PyTorch's nodes: cuDNN's has the input before the gradient.
enum class BatchNormNode : bool { native, cudnn };

/// Records the gradients that a pass made, where something of it wants a gradient: under
/// create_graph they have gradients of their own.
void record_batch_norm_gradients(const BatchNormPass& pass, BatchNormNode node,
                                 const LayerGradients& out);

}  // namespace ohm::ops
