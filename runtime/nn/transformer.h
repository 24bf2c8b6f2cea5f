// Layers of transformers.
#pragma once

#include "runtime/nn/module.h"
#include "runtime/nn/new_parameter.h"
#include "runtime/nn/transformer_parts.h"

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

 private:
  static constexpr std::string_view kInputNames[] = {"src", "src_mask", "src_key_padding_mask",
                                                     "is_causal"};

  // Lets its input go before its dropout.
  Tensor attended(Tensor input, const std::vector<Value>& inputs) const;
  Tensor by_child(std::size_t number, const Tensor& input) const {
    return children()[number].module->forward(input);
  }

  TransformerLayerOptions options_;
};

/// Copies of a layer one after the other, and a last module if there is one: children "layers.0",
/// "layers.1", …, "norm".
class TransformerEncoder final : public CopyableModule<TransformerEncoder> {
 public:
  TransformerEncoder(const Module& layer, std::int64_t count, ModulePtr norm);

  std::string_view type_name() const override { return "TransformerEncoder"; }
  std::span<const std::string_view> input_names() const override { return kInputNames; }

  using Module::forward;
  /// As the layers'.
  Value forward(const std::vector<Value>& inputs) override;

 private:
  static constexpr std::string_view kInputNames[] = {"src", "mask", "src_key_padding_mask",
                                                     "is_causal"};
};

}  // namespace ohm::nn
