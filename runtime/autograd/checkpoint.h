// Activation checkpointing: a part of the forward pass keeps its inputs alone, and backward runs
// that part again when it needs what lies between.
#pragma once

#include <vector>

#include "runtime/autograd/checkpoint_options.h"
#include "runtime/tensor/tensor.h"

namespace ohm {

/// function(inputs), recomputed in backward. The result is the function's; a reentrant checkpoint
/// gives a gradient only where an input requires one. Throws what the function throws.
std::vector<Tensor> checkpoint(const CheckpointedFunction& function,
                               const std::vector<Tensor>& inputs, const CheckpointOptions& options);

}  // namespace ohm
