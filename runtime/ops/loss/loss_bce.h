// Binary cross entropy: one probability, or one logit, for each yes-or-no question.
//
// `input` and `target` have one shape; `weight` broadcasts to it. With reduction "none" the result
// has that shape, else it is 0-dimensional. Kept are input, target and the weights.
#pragma once

#include <optional>
#include <vector>

#include "runtime/ops/loss/loss_reduction.h"
#include "runtime/ops/op.h"

namespace ohm::ops {

/// −(t·log x + (1−t)·log(1−x)) for x in [0, 1], no logarithm below −100. A reduced result owns a
/// storage of the operands' size. Throws std::invalid_argument under autocast on a GPU, as PyTorch
/// does.
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                            const std::optional<Tensor>& weight, Reduction reduction);

/// The same of sigmoid(input), safe against overflow; `pos_weight`, which broadcasts, multiplies
/// the loss of positives. Under autocast half-precision operands are cast to float32.
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const std::optional<Tensor>& weight, Reduction reduction,
                                        const std::optional<Tensor>& pos_weight);

std::vector<OpDef> bce_loss_ops();

}  // namespace ohm::ops
