// The transformer of "Attention Is All You Need": an encoder, and a decoder that attends to it.
#pragma once

#include <cstdint>

#include "runtime/nn/module.h"
#include "runtime/nn/new_parameter.h"
#include "runtime/nn/transformer_parts.h"

namespace ohm::nn {

/// Children encoder and decoder, each of copies of a layer and a LayerNorm. Every matrix starts
/// from xavier_uniform_.
class Transformer final : public CopyableModule<Transformer> {
 public:
  /// Throws std::invalid_argument for an unknown activation and for no layers.
  Transformer(const TransformerLayerOptions& options, std::int64_t encoder_layers,
              std::int64_t decoder_layers, const ParameterOptions& parameters);

  std::string_view type_name() const override { return "Transformer"; }
  std::span<const std::string_view> input_names() const override { return kInputNames; }

  using Module::forward;
  /// src, tgt [, src_mask, tgt_mask, memory_mask, src_key_padding_mask, tgt_key_padding_mask,
  /// memory_key_padding_mask, src_is_causal, tgt_is_causal, memory_is_causal].
  Value forward(const std::vector<Value>& inputs) override;

 private:
  static constexpr std::string_view kInputNames[] = {"src",
                                                     "tgt",
                                                     "src_mask",
                                                     "tgt_mask",
                                                     "memory_mask",
                                                     "src_key_padding_mask",
                                                     "tgt_key_padding_mask",
                                                     "memory_key_padding_mask",
                                                     "src_is_causal",
                                                     "tgt_is_causal",
                                                     "memory_is_causal"};
};

}  // namespace ohm::nn
