// Losses of angles and of likelihoods that PyTorch composes of other ops, which record their graph.
#pragma once

#include <vector>

#include "runtime/ops/loss/loss_reduction.h"
#include "runtime/ops/op.h"

namespace ohm::ops {

/// 1 - cos of vectors whose target is 1, max(0, cos - margin) where it is -1. [N, D] and [N], or
/// [D] and a number.
Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                             double margin, Reduction reduction);

/// (log var + (input - target)² / var) / 2, with a variance of at least `eps`; `full` adds the
/// constant.
Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& var, bool full,
                         double eps, Reduction reduction);

std::vector<OpDef> composed_loss_ops();

}  // namespace ohm::ops
