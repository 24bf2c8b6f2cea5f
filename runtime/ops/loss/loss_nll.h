// Classification losses: one class index for each sample.
//
// `input` is [N, C], [C] or [N, C, d1, …]; `target` (int64) has that shape without C. Saved are the
// log-probabilities, the target, the weight and the total weight, a 0-dimensional tensor.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/ops/loss/loss_reduction.h"
#include "runtime/ops/op.h"

namespace ohm::ops {

/// −weight[target] · input[target]; the mean divides by the sum of the weights. Samples whose
/// target is `ignore_index` do not count. `weight` is [C]. Throws std::invalid_argument for shapes
/// that do not fit and for a target outside [0, C).
Tensor nll_loss(const Tensor& input, const Tensor& target, const std::optional<Tensor>& weight,
                std::int64_t ignore_index, Reduction reduction);

/// Throws as nll_loss does, before anything is computed.
void check_class_targets(const Tensor& input, const Tensor& target,
                         const std::optional<Tensor>& weight);

std::vector<OpDef> nll_loss_ops();

}  // namespace ohm::ops
