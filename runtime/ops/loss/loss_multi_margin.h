// The margin loss of several classes, of which one is right.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/ops/loss/loss_reduction.h"
#include "runtime/ops/op.h"

namespace ohm::ops {

/// Of scores [N, C] or [C] and the right class of each: the mean over the classes of
/// max(0, margin - score[target] + score)^p, p being 1 or 2, times the target's weight.
Tensor multi_margin_loss(const Tensor& input, const Tensor& target, std::int64_t p, double margin,
                         const std::optional<Tensor>& weight, Reduction reduction);

std::vector<OpDef> multi_margin_ops();

}  // namespace ohm::ops
