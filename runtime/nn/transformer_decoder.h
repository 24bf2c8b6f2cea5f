// Layers of decoders: what has been said so far attends to itself and to what was encoded.
#pragma once

#include "runtime/nn/module.h"
#include "runtime/nn/new_parameter.h"
#include "runtime/nn/transformer.h"

namespace ohm::nn {

/// Self-attention, attention to `memory`, and two linear layers, each with dropout, a residual and
/// a LayerNorm: children self_attn, multihead_attn, linear1, dropout, linear2, norm1 to norm3,
/// dropout1 to dropout3.
class TransformerDecoderLayer final : public CopyableModule<TransformerDecoderLayer> {
 public:
  /// Throws std::invalid_argument for an unknown activation.
  TransformerDecoderLayer(const TransformerLayerOptions& options,
                          const ParameterOptions& parameters);

  std::string_view type_name() const override { return "TransformerDecoderLayer"; }
  std::span<const std::string_view> input_names() const override { return kInputNames; }

  using Module::forward;
  /// tgt, memory [, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask,
  /// tgt_is_causal, memory_is_causal].
  Value forward(const std::vector<Value>& inputs) override;

  static constexpr std::string_view kInputNames[] = {"tgt",
                                                     "memory",
                                                     "tgt_mask",
                                                     "memory_mask",
                                                     "tgt_key_padding_mask",
                                                     "memory_key_padding_mask",
                                                     "tgt_is_causal",
                                                     "memory_is_causal"};

 private:
  struct Attention;

  Tensor attended(const Attention& attention, Tensor query, const std::vector<Value>& inputs) const;

  TransformerLayerOptions options_;
};

/// Copies of a layer one after the other, and a last module if there is one: children "layers.0",
/// "layers.1", …, "norm".
class TransformerDecoder final : public CopyableModule<TransformerDecoder> {
 public:
  TransformerDecoder(const Module& layer, std::int64_t count, ModulePtr norm);

  std::string_view type_name() const override { return "TransformerDecoder"; }
  std::span<const std::string_view> input_names() const override {
    return TransformerDecoderLayer::kInputNames;
  }

  using Module::forward;
  /// As the layers'.
  Value forward(const std::vector<Value>& inputs) override;
};

}  // namespace ohm::nn
