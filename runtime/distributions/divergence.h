// Divergences of distributions.
#pragma once

#include "runtime/distributions/distribution.h"

namespace ohm::distributions {

/// KL(p ‖ q), of each distribution of the batch: [*batch_shape]. Throws std::invalid_argument for
/// distributions of different kinds.
Tensor kl_divergence(Distribution& p, Distribution& q);

}  // namespace ohm::distributions
