// The function of SyncBatchNorm, with its gradient.
#pragma once

#include "runtime/parallel/rank_group.h"
#include "runtime/tensor/tensor.h"

namespace ohm::parallel {

struct SyncBatchNormOperands {
  Tensor input;   ///< [N, C, …]
  Tensor weight;  ///< [C]; this and all below may be undefined
  Tensor bias;
  Tensor running_mean;  ///< which move by `momentum`, in place
  Tensor running_var;
  double momentum;
  double eps;
};

/// (input − mean) / √(variance + eps) · weight + bias for each channel, where mean and (biased)
/// variance are those of the inputs of all ranks of the group. Each rank of it calls this, and runs
/// the backward pass. Throws std::invalid_argument for an input without elements, and for channels
/// that do not fit.
Tensor sync_batch_norm(const SyncBatchNormOperands& operands, const GroupPtr& group);

}  // namespace ohm::parallel
