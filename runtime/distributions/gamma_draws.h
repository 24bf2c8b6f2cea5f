// Draws of Gamma and Dirichlet distributions, in the graph of what they are drawn for.
//
// The host computes them. The gradient is that of a draw whose share of the distribution stays: of
// −∂F/∂α / f, with F the distribution function and f its density.
#pragma once

#include "runtime/tensor/tensor.h"

namespace ohm::distributions {

/// An element for each of `concentration`, of rate 1: torch._standard_gamma. Saves both.
Tensor standard_gamma(const Tensor& concentration);

/// Rows with a sum of 1: what torch.distributions.Dirichlet draws. Saves both; differentiated once
/// only.
Tensor standard_dirichlet(const Tensor& concentration);

}  // namespace ohm::distributions
