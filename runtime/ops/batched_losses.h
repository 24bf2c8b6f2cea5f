// Losses of samples that vmap stands for: PyTorch has no kernels that take them, and decomposes
// them, nll_loss in Python. No graph is recorded here.
#pragma once

#include <cstdint>
#include <utility>

#include "runtime/ops/loss_reduction.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

struct BatchedNll {
  Reduction reduction;
  std::int64_t ignore_index;
};

/// The loss, and the sum of what it was divided by. `weight`: undefined for none. An input of
/// [samples, classes, …] or [classes].
std::pair<Tensor, Tensor> batched_nll_loss(const BatchedNll& call, const Tensor& input,
                                           const Tensor& target, const Tensor& weight);
Tensor batched_nll_gradient(const BatchedNll& call, const Tensor& grad, const Tensor& input,
                            const Tensor& target, const Tensor& weight, const Tensor& total_weight);

Tensor batched_mse_loss(const Tensor& input, const Tensor& target, Reduction reduction);
/// `factor`: of the slope, 2 / numel for a mean.
Tensor batched_mse_gradient(const Tensor& grad, const Tensor& input, const Tensor& target,
                            double factor);

}  // namespace ohm::ops
