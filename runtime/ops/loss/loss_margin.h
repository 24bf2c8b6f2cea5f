// Losses of distances between several inputs, kept apart by a margin.
//
// They are made of other ops, as PyTorch makes them: what is kept for backward is what those keep.
// Under autocast half-precision inputs are cast to float32 first.
#pragma once

#include <vector>

#include "runtime/ops/loss/loss_reduction.h"
#include "runtime/ops/op.h"

namespace ohm::ops {

/// max(0, margin − target · (input1 − input2)), for targets of 1 and −1.
Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                           double margin, Reduction reduction);

/// `input` where the target is 1, max(0, margin − input) where it is −1.
Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, double margin,
                            Reduction reduction);

/// max(0, margin + |anchor − positive| − |anchor − negative|), rows being vectors. With `swap` the
/// smaller of |anchor − negative| and |positive − negative| is taken off.
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           double margin, double p, double eps, bool swap, Reduction reduction);

/// exp(input) − target · input, or with `log_input` false input − target · log(input + eps).
Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input, double eps,
                        Reduction reduction);

std::vector<OpDef> margin_loss_ops();

}  // namespace ohm::ops
