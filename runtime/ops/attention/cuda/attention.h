// Fused attention on a CUDA device, by kernels.
#pragma once

#include "runtime/ops/attention/host/attention.h"

namespace ohm::ops {

/// As host_attention(). False, and nothing was done, where not all of it is on one device that has
/// kernels.
bool is_attention_done_on_cuda(const AttentionInputs& inputs, const AttentionRules& rules,
                               const Tensor& out, const Tensor& logsumexp);

/// What a CUDA device needs for gradients and the host does not.
struct AttentionSums {
  Tensor logsumexp;  ///< that is_attention_done_on_cuda() filled
  Tensor products;   ///< float32, an element for each query of each head: overwritten
};

/// As host_attention_gradients(), and false likewise or without a logsumexp.
bool are_attention_gradients_done_on_cuda(const AttentionInputs& inputs,
                                          const AttentionRules& rules, const Tensor& grad,
                                          const AttentionInputs& gradients,
                                          const AttentionSums& sums);

}  // namespace ohm::ops
