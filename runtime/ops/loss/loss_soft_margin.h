// The soft-margin loss: the logistic loss of scores and signs.
#pragma once

#include <vector>

#include "runtime/ops/loss/loss_reduction.h"
#include "runtime/ops/op.h"

namespace ohm::ops {

/// log(1 + exp(-target · input)); targets are 1 and -1. A reduced result keeps the memory of all
/// losses.
Tensor soft_margin_loss(const Tensor& input, const Tensor& target, Reduction reduction);

std::vector<OpDef> soft_margin_ops();

}  // namespace ohm::ops
