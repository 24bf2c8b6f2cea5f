#include "runtime/nn/transformer_model.h"

#include <fmt/core.h>

#include <cmath>
#include <memory>
#include <stdexcept>

#include "runtime/arithmetic/factories.h"
#include "runtime/nn/initialization.h"
#include "runtime/nn/transformer.h"
#include "runtime/nn/transformer_decoder.h"

namespace ohm::nn {
namespace {

// The inputs, in their order.
enum Input : std::size_t {
  kSource,
  kTarget,
  kSourceMask,
  kTargetMask,
  kMemoryMask,
  kSourcePadding,
  kTargetPadding,
  kMemoryPadding,
  kSourceIsCausal,
  kTargetIsCausal,
  kMemoryIsCausal,
  kInputCount,
};

void draw_matrices(const Module& module) {
  for (const Tensor& parameter : module.parameters()) {
    if (parameter.dims() < 2) continue;
    const init::Fans fans = init::fans_of(parameter, "xavier_uniform_");
    const double bound = std::sqrt(6.0 / (fans.in + fans.out));
    fill_uniform(parameter, -bound, bound);
  }
}

}  // namespace

Transformer::Transformer(const TransformerLayerOptions& options, std::int64_t encoder_layers,
                         std::int64_t decoder_layers, const ParameterOptions& parameters) {
  const TransformerParts parts(options, parameters);
  auto encoder_layer = std::make_unique<TransformerEncoderLayer>(options, parameters);
  add_child("encoder",
            std::make_shared<TransformerEncoder>(*encoder_layer, encoder_layers, parts.norm(),
                                                 TransformerEncoderOptions{}));
  const TransformerDecoderLayer decoder_layer(options, parameters);
  add_child("decoder",
            std::make_shared<TransformerDecoder>(decoder_layer, decoder_layers, parts.norm()));
  draw_matrices(*this);
  encoder_layer.reset();  // as Python lets go of locals: in the order in which they were made
}

Value Transformer::forward(const std::vector<Value>& inputs) {
  if (inputs.size() > kInputCount || !tensor_at(inputs, kSource) || !tensor_at(inputs, kTarget)) {
    throw std::invalid_argument(
        fmt::format("[{}] takes two tensors, src and tgt, then masks", type_name()));
  }
  std::vector<Value> values = inputs;
  values.resize(kInputCount);
  const Value memory = children()[0].module->call(
      {values[kSource], values[kSourceMask], values[kSourcePadding], values[kSourceIsCausal]});
  return children()[1].module->call(
      {values[kTarget], memory, values[kTargetMask], values[kMemoryMask], values[kTargetPadding],
       values[kMemoryPadding], values[kTargetIsCausal], values[kMemoryIsCausal]});
}

}  // namespace ohm::nn
