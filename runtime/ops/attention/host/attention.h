// The arithmetic of fused attention on the host: row by row, without all scores at once. Nothing is
// allocated on any device. Pre-condition: the tensors have values.
#pragma once

#include <cstdint>

#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// query [B, H, L, E], key [B, H, S, E], value [B, H, S, V], with any strides. `bias`, added to the
/// scores, is undefined or [B, H, L, S], maybe expanded.
struct AttentionInputs {
  Tensor query;
  Tensor key;
  Tensor value;
  Tensor bias;
};

struct AttentionRules {
  double scale = 1.0;
  bool is_causal = false;
  double dropout_p = 0.0;
  std::uint64_t seed = 0;        ///< of what is dropped
  std::uint64_t first_draw = 0;  ///< offset of the generator
};

/// Fills `out` [B, H, L, V] and, where it has elements, `logsumexp` [B, H, ≥ L].
void host_attention(const AttentionInputs& inputs, const AttentionRules& rules, const Tensor& out,
                    const Tensor& logsumexp);

/// Fills the gradients of `inputs`, in tensors of their shapes; an undefined one of the bias is not
/// wanted.
void host_attention_gradients(const AttentionInputs& inputs, const AttentionRules& rules,
                              const Tensor& grad, const AttentionInputs& gradients);

}  // namespace ohm::ops
