#include "runtime/nn/transformer.h"
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
enum Child : std::size_t {
  kSelfAttention,
  kLinear1,
  kDropout,
  kLinear2,
  kNorm1,
  kNorm2,
  kDropout1,
  kDropout2,
};

void check_inputs(const std::vector<Value>& inputs, std::string_view module) {
  constexpr std::size_t kMostInputs = 4;
  if (!inputs.empty() && inputs.size() <= kMostInputs &&
      std::holds_alternative<Tensor>(inputs[0])) {
    return;
  }
  throw std::invalid_argument(fmt::format(
      "[{}] takes a tensor, then src_mask, src_key_padding_mask and is_causal", module));
}

}  // namespace

TransformerEncoderLayer::TransformerEncoderLayer(const TransformerLayerOptions& options,
                                                 const ParameterOptions& parameters)
    : options_(options) {
  check_activation(options, type_name());
  const TransformerParts parts(options, parameters);
  add_child("self_attn", parts.attention());
  add_child("linear1", parts.linear_to_hidden());
  add_child("dropout", parts.dropout());
  add_child("linear2", parts.linear_from_hidden());
  add_child("norm1", parts.norm());
  add_child("norm2", parts.norm());
  add_child("dropout1", parts.dropout());
  add_child("dropout2", parts.dropout());
}

Tensor TransformerEncoderLayer::attended(Tensor input, const std::vector<Value>& inputs) const {
  const auto& attention =
      dynamic_cast<const MultiheadAttention&>(*children()[kSelfAttention].module);
  const bool* is_causal = inputs.size() > 3 ? std::get_if<bool>(&inputs[3]) : nullptr;
  Tensor output;
  {
    MultiheadAttention::Call call{input, input, input, tensor_at(inputs, 2), tensor_at(inputs, 1)};
    call.needs_weights = false;
    call.is_causal = is_causal != nullptr && *is_causal;
    output = attention.attend(call).output;
  }
  input = Tensor();
  return by_child(kDropout1, output);
}

Value TransformerEncoderLayer::forward(const std::vector<Value>& inputs) {
  check_inputs(inputs, type_name());
  const auto around = [&](const Tensor& x, Child norm, const auto& branch) {
    return residual(x, *children()[norm].module, options_.normalises_first, branch);
  };
  constexpr FeedForward kFeedForward{kLinear1, kDropout, kLinear2, kDropout2};
  Tensor x = std::get<Tensor>(inputs[0]);
  x = around(x, kNorm1, [&](Tensor seen) { return attended(std::move(seen), inputs); });
  x = around(x, kNorm2, [&](Tensor seen) {
    return kFeedForward(*this, options_.activation, std::move(seen));
  });
  return x;
}

TransformerEncoder::TransformerEncoder(const Module& layer, std::int64_t count, ModulePtr norm) {
  if (count <= 0) {
    throw std::invalid_argument(
        fmt::format("[TransformerEncoder] num_layers must be positive, not {}", count));
  }
  for (std::int64_t i = 0; i < count; ++i) {
    add_child(fmt::format("layers.{}", i), deep_copy(layer));
  }
  if (norm) add_child("norm", std::move(norm));
}

Value TransformerEncoder::forward(const std::vector<Value>& inputs) {
  check_inputs(inputs, type_name());
  std::vector<Value> values = inputs;
  const DType dtype = std::get<Tensor>(inputs[0]).dtype();
  constexpr std::size_t kMask = 1;
  constexpr std::size_t kPadding = 2;
  constexpr std::size_t kIsCausal = 3;
  for (const std::size_t position : {kPadding, kMask}) {
    const std::optional<Tensor> mask = tensor_at(inputs, position);
    if (mask) values[position] = *mask_as_numbers(mask, dtype);
  }
  values.resize(kIsCausal + 1);
  const Tensor* mask = std::get_if<Tensor>(&values[kMask]);
  if (mask != nullptr && std::holds_alternative<std::monostate>(values[kIsCausal])) {
    values[kIsCausal] = is_causal_mask(*mask);
  }
  for (const NamedModule& child : children()) {
    values[0] = child.name == "norm" ? Value(child.module->call(std::get<Tensor>(values[0])))
                                     : child.module->call(values);
  }
  return values[0];
}

}  // namespace ohm::nn
