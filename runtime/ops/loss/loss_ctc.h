// Connectionist temporal classification: the likelihood of a sequence of labels, in any alignment.
#pragma once

#include <vector>

#include "runtime/ops/loss/loss_reduction.h"
#include "runtime/ops/op.h"

namespace ohm::ops {

/// −log p(targets | log_probs) of each sequence, with blanks between labels and labels that last.
///
/// `log_probs` are logarithms, [time, batch, classes] or [time, classes], float32 or float64.
/// `targets` are whole numbers, [batch, longest] or all behind one another in one dimension;
/// int64 ones on the GPU are kept as they are, others in a copy. `input_lengths` and
/// `target_lengths` are whole numbers, one for each sequence; the mean divides each loss by its
/// target's length first. With `zero_infinity` a target that fits no alignment costs 0.
///
/// Computed as PyTorch does without cuDNN: kept are the log_probs, the targets, the losses and
/// [batch, time, 2 · longest target + 1] of the forward variables. Lengths without values are taken
/// for the longest there can be (Assumption::ctc_target_length). Errors: std::invalid_argument
/// naming shapes and lengths.
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, std::int64_t blank, Reduction reduction,
                bool zero_infinity);

std::vector<OpDef> ctc_loss_ops();

}  // namespace ohm::ops
