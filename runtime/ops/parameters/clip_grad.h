// Limits on gradients, between backward and the optimizer's step.
#pragma once

#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// Scales the gradients in place so that the norm of all of them together is at most `max_norm`;
/// returns that norm as it was, a 0-dim tensor. `foreach`: all norms in one kernel, or one after
/// the other; not given: one kernel where the gradients are on a GPU. Parameters without a gradient
/// count nothing. `norm_type` is 1, 2 or infinity. Throws std::runtime_error for a norm that is
/// infinite or no number, where that is asked for.
Tensor clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type,
                       bool error_if_nonfinite, std::optional<bool> foreach);

/// Its two halves: the norm of all tensors together, and the scaling by it of the gradients.
Tensor get_total_norm(const std::vector<Tensor>& tensors, double norm_type, bool error_if_nonfinite,
                      std::optional<bool> foreach);
void clip_grads_with_norm_(const std::vector<Tensor>& parameters, double max_norm,
                           const Tensor& total_norm);

/// Limits every element of the gradients to [-clip_value, clip_value], in place; no new bytes.
void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value);

std::vector<OpDef> clip_grad_ops();

}  // namespace ohm::ops
