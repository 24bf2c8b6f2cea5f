// Losses with margins, of likelihoods and of angles.
#pragma once

#include <optional>
#include <vector>

#include "runtime/ops/loss_reduction.h"
#include "runtime/ops/op.h"

namespace ohm::ops {

/// log(1 + exp(-target · input)); targets are 1 and -1. A reduced result keeps the memory of all
/// losses.
Tensor soft_margin_loss(const Tensor& input, const Tensor& target, Reduction reduction);

/// Of scores [N, C] or [C] and the right class of each: the mean over the classes of
/// max(0, margin - score[target] + score)^p, p being 1 or 2, times the target's weight.
Tensor multi_margin_loss(const Tensor& input, const Tensor& target, std::int64_t p, double margin,
                         const std::optional<Tensor>& weight, Reduction reduction);

/// 1 - cos of vectors whose target is 1, max(0, cos - margin) where it is -1. [N, D] and [N], or
/// [D] and a number.
Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                             double margin, Reduction reduction);

/// (log var + (input - target)² / var) / 2, with a variance of at least `eps`; `full` adds the
/// constant.
Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& var, bool full,
                         double eps, Reduction reduction);

std::vector<OpDef> soft_margin_ops();

}  // namespace ohm::ops
