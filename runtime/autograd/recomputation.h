// Non-reentrant checkpoints: nodes that keep nothing, and the second run that gives them what they
// did not keep.
#pragma once

#include <vector>

#include "runtime/autograd/checkpoint_options.h"

namespace ohm {

/// checkpoint() of the non-reentrant variant. Pre-condition: a graph is being recorded.
std::vector<Tensor> checkpoint_by_recomputation(const CheckpointedFunction& function,
                                                const std::vector<Tensor>& inputs,
                                                const CheckpointOptions& options);

}  // namespace ohm
