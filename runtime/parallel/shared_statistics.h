// The arithmetic of batch normalisation over the inputs of several ranks, on the host: what each
// rank knows of its own input is put together. Sums are in double. On size-only devices nothing
// happens.
#pragma once

#include "runtime/tensor/tensor.h"

namespace ohm::parallel {

/// What ranks know of their inputs.
struct GatheredStatistics {
  Tensor means;    ///< [ranks, C]
  Tensor invstds;  ///< [ranks, C]: 1/√(biased variance + eps)
  Tensor counts;   ///< [ranks, 1]: elements of a channel
};

/// Running statistics, undefined where there are none, that move by `momentum`.
struct MovedStatistics {
  Tensor mean;
  Tensor variance;
  double momentum;
};

/// Fills `mean` and `invstd` [C] with those of all elements.
void merge_statistics(const GatheredStatistics& gathered, double eps, const Tensor& mean,
                      const Tensor& invstd, const MovedStatistics& running);

/// A rank's part of a backward pass.
struct NormPass {
  Tensor grad;
  Tensor input;
  Tensor weight;  ///< may be undefined
  Tensor mean;
  Tensor invstd;
};

/// Sums [C] over the rank's elements; each may be undefined.
struct GradientSums {
  Tensor of_grad;
  Tensor of_products;  ///< grad · (input − mean)
  Tensor weight;
  Tensor bias;
};
void sum_gradients(const NormPass& pass, const GradientSums& sums);

/// Fills `out` with the gradient of the input, from the sums over all ranks, whose inputs have
/// `counts` elements in a channel.
void fill_input_gradient(const NormPass& pass, const Tensor& sum_of_grad,
                         const Tensor& sum_of_products, const Tensor& counts, const Tensor& out);

}  // namespace ohm::parallel
