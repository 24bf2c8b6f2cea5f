// Cross entropy of logits with classes or with probabilities.
//
// `input` is [N, C], [C] or [N, C, d1, …]; `target` is int64 of that shape without C, or
// probabilities of the input's shape. `weight` is [C].
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/ops/loss/loss_reduction.h"
#include "runtime/ops/op.h"

namespace ohm::ops {

/// nll_loss(log_softmax(input)) for classes, −Σ target · log_softmax(input) for probabilities. The
/// logits are not kept, their log_softmax is. With label smoothing each class gets a share of the
/// target. Under autocast half-precision logits get a half-precision log_softmax, and the loss a
/// float32 copy of it. Throws std::invalid_argument as nll_loss does.
Tensor cross_entropy(const Tensor& input, const Tensor& target, const std::optional<Tensor>& weight,
                     std::int64_t ignore_index, Reduction reduction, double label_smoothing = 0.0);

std::vector<OpDef> cross_entropy_ops();

}  // namespace ohm::ops
