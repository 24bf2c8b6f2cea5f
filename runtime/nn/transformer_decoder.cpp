#include "runtime/nn/transformer_decoder.h"
#include "runtime/nn/deep_copy.h"
#include "runtime/nn/new_parameter.h"

#include <fmt/core.h>

#include <stdexcept>
#include <utility>

#include "runtime/nn/attention.h"
#include "runtime/nn/transformer_parts.h"

namespace ohm::nn {
namespace {

// The children of a layer, in the order in which they are registered.
namespace part {
enum : std::size_t {
  kSelfAttention,
  kMemoryAttention,
  kLinear1,
  kDropout,
  kLinear2,
  kNorm1,
  kNorm2,
  kNorm3,
  kDropout1,
  kDropout2,
  kDropout3,
};
}  // namespace part

// The inputs, in their order.
namespace place {
enum : std::size_t {
  kTarget,
  kMemory,
  kTargetMask,
  kMemoryMask,
  kTargetPadding,
  kMemoryPadding,
  kTargetIsCausal,
  kMemoryIsCausal,
  kCount,
};
}  // namespace place

void check_decoder_inputs(const std::vector<Value>& inputs, std::string_view module) {
  if (inputs.size() <= place::kCount && tensor_at(inputs, place::kTarget) &&
      tensor_at(inputs, place::kMemory)) {
    return;
  }
  throw std::invalid_argument(
      fmt::format("[{}] takes two tensors, then tgt_mask, memory_mask, tgt_key_padding_mask, "
                  "memory_key_padding_mask, tgt_is_causal and memory_is_causal",
                  module));
}

bool flag_at(const std::vector<Value>& inputs, std::size_t place) {
  const bool* flag = place < inputs.size() ? std::get_if<bool>(&inputs[place]) : nullptr;
  return flag != nullptr && *flag;
}

}  // namespace

/// One of the two attentions of a layer: its children, and where its inputs stand.
struct TransformerDecoderLayer::Attention {
  std::size_t attention;
  std::size_t dropout;
  bool is_of_memory;
  std::size_t mask;
  std::size_t padding;
  std::size_t is_causal;
};

TransformerDecoderLayer::TransformerDecoderLayer(const TransformerLayerOptions& options,
                                                 const ParameterOptions& parameters)
    : options_(options) {
  check_activation(options, type_name());
  const TransformerParts parts(options, parameters);
  add_child("self_attn", parts.attention());
  add_child("multihead_attn", parts.attention());
  add_child("linear1", parts.linear_to_hidden());
  add_child("dropout", parts.dropout());
  add_child("linear2", parts.linear_from_hidden());
  for (const char* name : {"norm1", "norm2", "norm3"}) add_child(name, parts.norm());
  for (const char* name : {"dropout1", "dropout2", "dropout3"}) add_child(name, parts.dropout());
}

// Lets its query go before its dropout.
Tensor TransformerDecoderLayer::attended(const Attention& attention, Tensor query,
                                         const std::vector<Value>& inputs) const {
  const auto& module =
      dynamic_cast<const MultiheadAttention&>(*children()[attention.attention].module);
  Tensor output;
  {
    const Tensor& keys = attention.is_of_memory ? std::get<Tensor>(inputs[place::kMemory]) : query;
    MultiheadAttention::Call call{query, keys, keys, tensor_at(inputs, attention.padding),
                                  tensor_at(inputs, attention.mask)};
    call.needs_weights = false;
    call.is_causal = flag_at(inputs, attention.is_causal);
    output = module.attend(call).output;
  }
  query = Tensor();
  return children()[attention.dropout].module->forward(output);
}

Value TransformerDecoderLayer::forward(const std::vector<Value>& inputs) {
  check_decoder_inputs(inputs, type_name());
  constexpr Attention kOfTarget{
      part::kSelfAttention, part::kDropout1,       false,
      place::kTargetMask,   place::kTargetPadding, place::kTargetIsCausal};
  constexpr Attention kOfMemory{
      part::kMemoryAttention, part::kDropout2,       true,
      place::kMemoryMask,     place::kMemoryPadding, place::kMemoryIsCausal};
  constexpr FeedForward kFeedForward{part::kLinear1, part::kDropout, part::kLinear2,
                                     part::kDropout3};
  const auto around = [&](const Tensor& x, std::size_t norm, const auto& branch) {
    return residual(x, *children()[norm].module, options_.normalises_first, branch);
  };
  Tensor x = std::get<Tensor>(inputs[place::kTarget]);
  x = around(x, part::kNorm1,
             [&](Tensor seen) { return attended(kOfTarget, std::move(seen), inputs); });
  x = around(x, part::kNorm2,
             [&](Tensor seen) { return attended(kOfMemory, std::move(seen), inputs); });
  x = around(x, part::kNorm3, [&](Tensor seen) {
    return kFeedForward(*this, options_.activation, std::move(seen));
  });
  return x;
}

TransformerDecoder::TransformerDecoder(const Module& layer, std::int64_t count, ModulePtr norm) {
  if (count <= 0) {
    throw std::invalid_argument(
        fmt::format("[TransformerDecoder] num_layers must be positive, not {}", count));
  }
  for (std::int64_t i = 0; i < count; ++i) {
    add_child(fmt::format("layers.{}", i), deep_copy(layer));
  }
  if (norm) add_child("norm", std::move(norm));
}

Value TransformerDecoder::forward(const std::vector<Value>& inputs) {
  check_decoder_inputs(inputs, type_name());
  std::vector<Value> values = inputs;
  values.resize(place::kCount);
  const Tensor* mask = std::get_if<Tensor>(&values[place::kTargetMask]);
  if (mask != nullptr && std::holds_alternative<std::monostate>(values[place::kTargetIsCausal])) {
    values[place::kTargetIsCausal] = is_causal_mask(*mask);
  }
  for (const NamedModule& child : children()) {
    values[place::kTarget] =
        child.name == "norm" ? Value(child.module->call(std::get<Tensor>(values[place::kTarget])))
                             : child.module->call(values);
  }
  return values[place::kTarget];
}

}  // namespace ohm::nn
