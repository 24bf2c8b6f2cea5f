// The steps of native self-attention: of native_attention.h and nested_attention.h.
#pragma once

#include <cstdint>

#include "runtime/ops/attention/native_attention_parameters.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// Whether a native call asks for a fused kernel at all: earlier versions do for multiples of 8.
bool takes_width_of_heads(std::int64_t width);

/// Writes queries, keys and values [3, B, heads, T, E/heads], of any strides: their product
/// [B, T, 3E] and the bias, queries scaled by 1/√(E/heads).
void write_heads(const Tensor& product, const AttentionParameters& parameters, const Tensor& parts);

/// [B, heads, m, n] as [B·heads, m, n].
Tensor heads_as_batch(const Tensor& tensor);

/// The products [B, heads, T, T] of queries and keys.
Tensor scores_of(const Tensor& parts);

/// softmax along the last dimension without what a row-major bool mask leaves out: [B, T] keys, or
/// of the scores' shape. One new tensor; of rows of over 1,024 elements or 4 KiB it makes three.
/// Throws std::invalid_argument for a mask that does not fit.
Tensor masked_softmax(const Tensor& scores, const Tensor& left_out);

}  // namespace ohm::ops
