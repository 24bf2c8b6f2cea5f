// Losses of the distance between a prediction and a target, element by element.
//
// `input` and `target` broadcast against each other. With reduction "none" the result has their
// shape, else it is 0-dimensional. Both operands are kept for backward where nothing else is said.
// Under autocast half-precision operands are cast to float32 first, and the casts are what is kept.
#pragma once

#include <vector>

#include "runtime/ops/loss/loss_reduction.h"
#include "runtime/ops/op.h"

namespace ohm::ops {

/// (input − target)². A reduced result owns a storage of the operands' size: keeping such losses
/// in a list keeps that many bytes for each.
Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction);

/// d²/(2·beta) for a distance d below `beta`, d − beta/2 above. A reduced result owns a storage of
/// the operands' size.
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, Reduction reduction, double beta);

/// beta · smooth_l1_loss, with a result of its own size.
Tensor huber_loss(const Tensor& input, const Tensor& target, Reduction reduction, double delta);

/// |input − target|. The only one of several nodes: what is kept is the difference.
Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction);

std::vector<OpDef> distance_loss_ops();

}  // namespace ohm::ops
