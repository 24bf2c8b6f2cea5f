// Layers of transformers.
#pragma once

#include "runtime/nn/attention.h"
#include "runtime/nn/module.h"
#include "runtime/nn/native_path.h"
#include "runtime/nn/new_parameter.h"
#include "runtime/nn/transformer_parts.h"
#include "runtime/ops/attention/native_encoder_layer.h"

namespace ohm::nn {

/// Self-attention and two linear layers, each with dropout, a residual and a LayerNorm: children
/// self_attn, linear1, dropout, linear2, norm1, norm2, dropout1 and dropout2.
class TransformerEncoderLayer final : public CopyableModule<TransformerEncoderLayer> {
 public:
  /// Throws std::invalid_argument for an unknown activation.
  TransformerEncoderLayer(const TransformerLayerOptions& options,
                          const ParameterOptions& parameters);

  std::string_view type_name() const override { return "TransformerEncoderLayer"; }
  std::span<const std::string_view> input_names() const override { return kInputNames; }

  using Module::forward;
  /// src [, src_mask, src_key_padding_mask, is_causal].
  Value forward(const std::vector<Value>& inputs) override;

  /// Whether tensors without padding can go through it; see TransformerEncoder.
  bool takes_nested_tensors() const;
  /// The forward pass of sequences without padding. Throws std::invalid_argument where it is not
  /// one native call.
  ops::NestedRows forward_nested(const ops::NestedRows& src) const;
  /// Whether a graph would be recorded of `src` and what an encoder looks at of its first layer.
  bool wants_graph(const Tensor& src) const;

 private:
  static constexpr std::string_view kInputNames[] = {"src", "src_mask", "src_key_padding_mask",
                                                     "is_causal"};

  // Null: the script has put another module there.
  const MultiheadAttention* find_attention() const;
  bool has_native_parts() const;
  bool is_native_otherwise(const Tensor& src) const;  ///< whatever its dimensions
  ops::EncoderLayerParameters native_parameters() const;
  Tensor by_steps(const Tensor& src, const AttentionMasks& masks, bool is_causal) const;
  // Lets its input go before its dropout.
  Tensor attended(Tensor input, const AttentionMasks& masks, bool is_causal) const;
  Tensor by_child(std::size_t number, const Tensor& input) const {
    return children()[number].module->forward(input);
  }

  TransformerLayerOptions options_;
};

struct TransformerEncoderOptions {
  bool enables_nested_tensors = true;
  bool checks_mask = true;
};

/// Copies of a layer one after the other, and a last module if there is one: children "layers.0",
/// "layers.1", …, "norm".
///
/// In evaluation PyTorch looks whether src_key_padding_mask leaves out nothing but ends of rows:
/// then its layers get sequences without padding, if no graph is recorded. On a GPU without values
/// none does.
class TransformerEncoder final : public CopyableModule<TransformerEncoder> {
 public:
  TransformerEncoder(const Module& layer, std::int64_t count, ModulePtr norm,
                     const TransformerEncoderOptions& options);

  std::string_view type_name() const override { return "TransformerEncoder"; }
  std::span<const std::string_view> input_names() const override { return kInputNames; }

  using Module::forward;
  /// As the layers'.
  Value forward(const std::vector<Value>& inputs) override;

 private:
  static constexpr std::string_view kInputNames[] = {"src", "mask", "src_key_padding_mask",
                                                     "is_causal"};

  bool takes_padding_away(const Tensor& src, const std::vector<Value>& values) const;
  Tensor through_nested_layers(const Tensor& src, const Tensor& padding) const;
  const TransformerEncoderLayer* find_layer(std::size_t i) const;

  bool uses_nested_tensors_;
  bool checks_mask_;
};

}  // namespace ohm::nn
