// The Kullback-Leibler divergence of distributions.
#pragma once

#include <string>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// target · (log(target) − input), 0 where the target is 0; `input` holds log-probabilities. With
/// `log_target` the target does too: e^target · (target − input). `reduction` is "none", "mean",
/// "sum" or "batchmean": the sum divided by the first dimension. Made of several nodes.
Tensor kl_div(const Tensor& input, const Tensor& target, const std::string& reduction,
              bool log_target);

std::vector<OpDef> divergence_loss_ops();

}  // namespace ohm::ops
