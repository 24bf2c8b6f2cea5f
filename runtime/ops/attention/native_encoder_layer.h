// An encoder layer as PyTorch computes it in one call where no graph is recorded: what its modules
// take in evaluation.
#pragma once

#include <optional>

#include "runtime/ops/attention/native_attention.h"
#include "runtime/ops/attention/nested_rows.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// Of a layer normalisation over the last dimension.
struct NormParameters {
  Tensor weight;
  Tensor bias;
};

/// Of a layer with `hidden` columns inside: weight1 [hidden, E], weight2 [E, hidden].
struct EncoderLayerParameters {
  AttentionParameters attention;
  NormParameters norm1;
  NormParameters norm2;
  double eps;
  Tensor weight1;
  Tensor bias1;
  Tensor weight2;
  Tensor bias2;
  bool has_gelu;  ///< else relu
  bool normalises_first;
};

/// src [B, T, E]; `mask` as native_multi_head_attention() has it. On a GPU gelu is the one with
/// tanh, as cuBLASLt has it.
Tensor native_encoder_layer(const Tensor& src, const EncoderLayerParameters& parameters,
                            const std::optional<Tensor>& mask);
/// The same of sequences without padding.
NestedRows native_encoder_layer(const NestedRows& src, const EncoderLayerParameters& parameters);

}  // namespace ohm::ops
