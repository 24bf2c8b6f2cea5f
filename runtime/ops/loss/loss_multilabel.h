// A loss of several classes that may all be right at once.
#pragma once

#include <optional>
#include <vector>

#include "runtime/ops/loss/loss_reduction.h"
#include "runtime/ops/op.h"

namespace ohm::ops {

/// Of scores and targets [N, C], targets 0 or 1: the mean over the classes of
/// −(target · log σ(input) + (1 − target) · log σ(−input)), times the class's weight.
Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target,
                                   const std::optional<Tensor>& weight, Reduction reduction);

std::vector<OpDef> multilabel_ops();

}  // namespace ohm::ops
