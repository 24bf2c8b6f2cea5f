// The partition of parameters: the rank that keeps the optimizer's state of each.
#pragma once

#include <vector>

#include "runtime/tensor/tensor.h"

namespace ohm::parallel {

/// One part for each rank: the largest parameters first, each to the rank that has the fewest
/// elements so far (the first of them), as torch.distributed's ZeroRedundancyOptimizer does it.
std::vector<std::vector<Tensor>> partition_parameters(const std::vector<Tensor>& parameters,
                                                      int world_size);

}  // namespace ohm::parallel
