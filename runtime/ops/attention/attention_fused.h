// Attention in one kernel: the logarithm of each row's sum is kept instead of the scores.
//
// Inputs have four dimensions [B, H, length, width] and any strides but in the last one; flash and
// efficient kernels work on [B, length, H, width] inside, which is how their results are laid out.
#pragma once

#include <optional>

#include "runtime/tensor/tensor.h"

namespace ohm::ops {

struct FusedAttention {
  double dropout_p = 0.0;
  bool is_causal = false;
  double scale = 1.0;
};

/// E is a multiple of 8. Keeps its inputs, the result and float32 [B, H, L]; where there are too
/// few rows to fill the GPU the keys are split, and float32 partial results of each part are
/// temporary. Backward makes row-major copies of the gradient and the result, and a float32
/// gradient of the query with lengths and widths rounded up, which are temporary.
Tensor flash_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                       const FusedAttention& options);

/// `bias` is undefined or [B, H, L, S], maybe expanded. Keeps its inputs, the result and, where a
/// gradient may be wanted, float32 [B, H, L rounded up to 32]. Backward makes a workspace in which
/// blocks of the query's gradient are summed up.
Tensor efficient_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                           const Tensor& bias, const FusedAttention& options);

/// `bias` is undefined or [B, H, L, S], maybe expanded; E and the values' width are multiples of 8.
/// Results are laid out as the query is. Keeps its inputs, the result and, where a gradient may be
/// wanted, float32 [B, H, L]. Backward makes a float32 gradient of the query and a float32 number
/// for each of its rows, which are temporary: cuDNN's frontend asks for them together.
Tensor cudnn_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                       const Tensor& bias, const FusedAttention& options);

}  // namespace ohm::ops
