// Self-attention as PyTorch computes it in one call where no graph is recorded: what its modules
// take in evaluation.
//
// Tensors are [B, T, E]. Masks are as the modules have merged them: [B, T] of keys that are left
// out, or [B, heads, T, T] of scores that are; any number but 0 leaves out, whatever its size.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/ops/attention/native_attention_parameters.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

enum class WantedWeights : std::uint8_t { none, of_each_head, averaged };

struct NativeAttention {
  Tensor output;   ///< [B, T, E]
  Tensor weights;  ///< [B, heads, T, T], their mean [B, T, T], or undefined
};

/// Through a fused kernel where there is one and neither a mask nor weights: as
/// scaled_dot_product_attention. Else queries, keys and values lie in one tensor, the scores in
/// another; a masked softmax makes a third one. Throws std::invalid_argument for a mask that does
/// not fit.
NativeAttention native_multi_head_attention(const Tensor& query,
                                            const AttentionParameters& parameters,
                                            const std::optional<Tensor>& mask,
                                            WantedWeights wanted);

}  // namespace ohm::ops
