// Scaled dot-product attention: softmax(query · keyᵀ · scale + mask) · value.
//
// It can be computed in three ways, which differ in what they allocate: step by step, with tensors
// of all scores, or in one of two fused kernels, which never have all scores at once but keep the
// logarithm of each row's sum. The program's choice is in ExecutionState::attention_kernels; among
// those that are allowed and can do it, flash comes before efficient before step by step.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// query [*, L, E], key [*, S, E] and value [*, S, V] of one dtype and device give [*, L, V].
///
/// `attn_mask` broadcasts to [*, L, S]: a bool mask is true where a key takes part, a floating one
/// is added to the scores. `is_causal`: query i sees the keys up to i; not together with a mask.
/// `scale` is 1/√E when not given. Fused kernels take four dimensions, on a GPU: flash float16 and
/// bfloat16, E up to 256, without a mask; efficient also float32, E and V multiples of 8 (float32:
/// of 4). Throws std::invalid_argument where nothing that is allowed can do it.
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const std::optional<Tensor>& attn_mask, double dropout_p,
                                    bool is_causal, std::optional<double> scale);

/// Whether those are computed in a fused kernel, without a mask and dropout.
bool is_attention_fused(const Tensor& query, const Tensor& key, const Tensor& value);

/// Kernels for sequences of several lengths that lie behind one another.
enum class SequenceKernel : std::uint8_t { none, flash, efficient };
/// The one for queries, keys and values [1, H, L, E] like this: of all sequences together.
SequenceKernel kernel_of_sequences(const Tensor& query);

std::vector<OpDef> attention_ops();

}  // namespace ohm::ops
