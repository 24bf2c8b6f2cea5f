#include "runtime/nn/transformer.h"
#include "runtime/nn/deep_copy.h"
#include "runtime/nn/new_parameter.h"

#include <fmt/core.h>

#include <stdexcept>
#include <utility>

#include "runtime/nn/linear.h"
#include "runtime/nn/normalization.h"
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

const MultiheadAttention* TransformerEncoderLayer::find_attention() const {
  return dynamic_cast<const MultiheadAttention*>(children()[kSelfAttention].module.get());
}

bool TransformerEncoderLayer::has_native_parts() const {
  const auto norm_at = [&](Child child) {
    return dynamic_cast<const LayerNorm*>(children()[child].module.get());
  };
  const auto is_linear = [&](Child child) {
    return dynamic_cast<const Linear*>(children()[child].module.get()) != nullptr;
  };
  const MultiheadAttention* const attention = find_attention();
  return attention != nullptr && attention->is_batch_first() && attention->has_bias() &&
         !attention->has_own_weights() && attention->heads() % 2 == 0 && is_linear(kLinear1) &&
         is_linear(kLinear2) && norm_at(kNorm1) != nullptr && norm_at(kNorm2) != nullptr &&
         norm_at(kNorm1)->eps() == norm_at(kNorm2)->eps();
}

bool TransformerEncoderLayer::takes_nested_tensors() const {
  return has_native_parts() && !options_.normalises_first;
}

bool TransformerEncoderLayer::wants_graph(const Tensor& src) const {
  const auto parameter = [&](Child child, std::size_t i) {
    return children()[child].module->own_parameter(i);
  };
  const ops::AttentionParameters attention = find_attention()->native_parameters();
  return is_graph_wanted({src, attention.in_weight, attention.in_bias, attention.out_weight,
                          attention.out_bias, parameter(kNorm1, 0), parameter(kNorm1, 1),
                          parameter(kNorm2, 0), parameter(kNorm2, 1), parameter(kLinear1, 0),
                          parameter(kLinear1, 1), parameter(kLinear2, 0), parameter(kLinear2, 1)});
}

bool TransformerEncoderLayer::is_native_otherwise(const Tensor& src) const {
  return !is_training() && has_native_parts() && !is_autocast_on() &&
         !is_forward_pass_observed(*this) && !wants_graph(src);
}

ops::EncoderLayerParameters TransformerEncoderLayer::native_parameters() const {
  const auto parameter = [&](Child child, std::size_t i) {
    return children()[child].module->own_parameter(i);
  };
  return {.attention = find_attention()->native_parameters(),
          .norm1 = {parameter(kNorm1, 0), parameter(kNorm1, 1)},
          .norm2 = {parameter(kNorm2, 0), parameter(kNorm2, 1)},
          .eps = dynamic_cast<const LayerNorm&>(*children()[kNorm1].module).eps(),
          .weight1 = parameter(kLinear1, 0),
          .bias1 = parameter(kLinear1, 1),
          .weight2 = parameter(kLinear2, 0),
          .bias2 = parameter(kLinear2, 1),
          .has_gelu = options_.activation == "gelu",
          .normalises_first = options_.normalises_first};
}

Tensor TransformerEncoderLayer::attended(Tensor input, const AttentionMasks& masks,
                                         bool is_causal) const {
  const auto& attention =
      dynamic_cast<const MultiheadAttention&>(*children()[kSelfAttention].module);
  Tensor output;
  {
    MultiheadAttention::Call call{input, input, input, masks.padding, masks.attention};
    call.needs_weights = false;
    call.is_causal = is_causal;
    output = attention.attend(call).output;
  }
  input = Tensor();
  return by_child(kDropout1, output);
}

Tensor TransformerEncoderLayer::by_steps(const Tensor& src, const AttentionMasks& masks,
                                         bool is_causal) const {
  const auto around = [&](const Tensor& x, Child norm, const auto& branch) {
    return residual(x, *children()[norm].module, options_.normalises_first, branch);
  };
  constexpr FeedForward kFeedForward{kLinear1, kDropout, kLinear2, kDropout2};
  Tensor x = src;
  x = around(x, kNorm1, [&](Tensor seen) { return attended(std::move(seen), masks, is_causal); });
  x = around(x, kNorm2, [&](Tensor seen) {
    return kFeedForward(*this, options_.activation, std::move(seen));
  });
  return x;
}

Value TransformerEncoderLayer::forward(const std::vector<Value>& inputs) {
  check_inputs(inputs, type_name());
  const Tensor& src = std::get<Tensor>(inputs[0]);
  const bool* is_causal = inputs.size() > 3 ? std::get_if<bool>(&inputs[3]) : nullptr;
  std::optional<Tensor> merged;  // declared first: it goes last
  AttentionMasks masks(tensor_at(inputs, 2), tensor_at(inputs, 1), src.dtype());
  Tensor output;
  if (src.dims() == 3 && is_native_otherwise(src)) {
    merged = masks.merged(src, find_attention()->heads());
    output = ops::native_encoder_layer(src, native_parameters(), merged);
  } else {
    output = by_steps(src, masks, is_causal != nullptr && *is_causal);
  }
  return output;
}

ops::NestedRows TransformerEncoderLayer::forward_nested(const ops::NestedRows& src) const {
  if (!is_native_otherwise(src.rows)) {
    throw std::invalid_argument(fmt::format(
        "[{}] sequences without padding go through its native call alone: in evaluation, without "
        "hooks",
        type_name()));
  }
  return ops::native_encoder_layer(src, native_parameters());
}

TransformerEncoder::TransformerEncoder(const Module& layer, std::int64_t count, ModulePtr norm,
                                       const TransformerEncoderOptions& options)
    : checks_mask_(options.checks_mask) {
  if (count <= 0) {
    throw std::invalid_argument(
        fmt::format("[TransformerEncoder] num_layers must be positive, not {}", count));
  }
  const auto* const encoder_layer = dynamic_cast<const TransformerEncoderLayer*>(&layer);
  uses_nested_tensors_ = options.enables_nested_tensors && encoder_layer != nullptr &&
                         encoder_layer->takes_nested_tensors();
  for (std::int64_t i = 0; i < count; ++i) {
    add_child(fmt::format("layers.{}", i), deep_copy(layer));
  }
  if (norm) add_child("norm", std::move(norm));
}

const TransformerEncoderLayer* TransformerEncoder::find_layer(std::size_t i) const {
  return dynamic_cast<const TransformerEncoderLayer*>(children()[i].module.get());
}

namespace {

constexpr std::size_t kMask = 1;
constexpr std::size_t kPadding = 2;
constexpr std::size_t kIsCausal = 3;

}  // namespace

bool TransformerEncoder::takes_padding_away(const Tensor& src,
                                            const std::vector<Value>& values) const {
  const Tensor* const padding = std::get_if<Tensor>(&values[kPadding]);
  const TransformerEncoderLayer* const first = find_layer(0);
  if (!uses_nested_tensors_ || first == nullptr || first->is_training() || src.dims() != 3 ||
      padding == nullptr || (checks_mask_ && !is_left_aligned(src, *padding))) {
    return false;
  }
  return !std::holds_alternative<Tensor>(values[kMask]) && !is_autocast_on() &&
         !first->wants_graph(src);
}

Tensor TransformerEncoder::through_nested_layers(const Tensor& src, const Tensor& padding) const {
  ops::NestedRows x = without_padding(src, padding);
  for (std::size_t i = 0; i < children().size() && children()[i].name != "norm"; ++i) {
    const TransformerEncoderLayer* const layer = find_layer(i);
    if (layer == nullptr) {
      throw std::invalid_argument(fmt::format(
          "[{}] sequences without padding go through a TransformerEncoderLayer alone, not through "
          "a {}",
          type_name(), children()[i].module->type_name()));
    }
    x = layer->forward_nested(x);
  }
  return ops::to_padded(x, src.size(1));
}

Value TransformerEncoder::forward(const std::vector<Value>& inputs) {
  check_inputs(inputs, type_name());
  std::vector<Value> values = inputs;
  values.resize(kIsCausal + 1);
  const Tensor& src = std::get<Tensor>(inputs[0]);
  for (const std::size_t position : {kPadding, kMask}) {
    const std::optional<Tensor> mask = tensor_at(inputs, position);
    if (mask) values[position] = *mask_as_numbers(mask, src.dtype());
  }
  const bool is_nested = takes_padding_away(src, values);
  const Tensor* mask = std::get_if<Tensor>(&values[kMask]);
  if (mask != nullptr && std::holds_alternative<std::monostate>(values[kIsCausal])) {
    values[kIsCausal] = is_causal_mask(*mask);
  }
  if (is_nested) values[0] = through_nested_layers(src, std::get<Tensor>(values[kPadding]));
  for (const NamedModule& child : children()) {
    if (child.name == "norm") {
      values[0] = child.module->call(std::get<Tensor>(values[0]));
    } else if (!is_nested) {
      values[0] = child.module->call(values);
    }
  }
  return values[0];
}

}  // namespace ohm::nn
