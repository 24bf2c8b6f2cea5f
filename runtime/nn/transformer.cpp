#include "runtime/nn/transformer.h"

#include <fmt/core.h>

#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>

#include "runtime/arithmetic/factories.h"
#include "runtime/nn/attention.h"
#include "runtime/nn/dropout.h"
#include "runtime/nn/linear.h"
#include "runtime/nn/normalization.h"
#include "runtime/ops/activation.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/comparison.h"
#include "runtime/ops/rearrange.h"

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

std::optional<Tensor> tensor_at(const std::vector<Value>& inputs, std::size_t i) {
  const Tensor* tensor = i < inputs.size() ? std::get_if<Tensor>(&inputs[i]) : nullptr;
  return tensor == nullptr ? std::nullopt : std::optional<Tensor>(*tensor);
}

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
  if (options.activation != "relu" && options.activation != "gelu") {
    throw std::invalid_argument(fmt::format(
        "[TransformerEncoderLayer] activation should be relu or gelu, not {}", options.activation));
  }
  const std::int64_t width = options.width;
  const auto linear = [&](std::int64_t from, std::int64_t to) {
    return std::make_shared<Linear>(from, to, options.has_bias, parameters);
  };
  const auto norm = [&] {
    const LayerNormOptions norm_options{options.eps, true, options.has_bias};
    return std::make_shared<LayerNorm>(Shape{width}, norm_options, parameters);
  };
  const auto dropout = [&] {
    return std::make_shared<Dropout>(kElementDropout, options.dropout, false);
  };
  const MultiheadAttentionOptions attention{options.dropout, options.has_bias,
                                            options.is_batch_first};
  add_child("self_attn",
            std::make_shared<MultiheadAttention>(width, options.heads, attention, parameters));
  add_child("linear1", linear(width, options.hidden));
  add_child("dropout", dropout());
  add_child("linear2", linear(options.hidden, width));
  add_child("norm1", norm());
  add_child("norm2", norm());
  add_child("dropout1", dropout());
  add_child("dropout2", dropout());
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

Tensor TransformerEncoderLayer::transformed(Tensor input) const {
  Tensor hidden = by_child(kLinear1, input);
  hidden = options_.activation == "gelu" ? ops::gelu(hidden, "none") : ops::relu(hidden);
  hidden = by_child(kDropout, hidden);
  hidden = by_child(kLinear2, hidden);
  input = Tensor();
  return by_child(kDropout2, hidden);
}

Value TransformerEncoderLayer::forward(const std::vector<Value>& inputs) {
  check_inputs(inputs, type_name());
  // A residual around a branch, normalised before it or behind.
  const auto around = [&](const Tensor& x, Child norm, const auto& branch) {
    if (!options_.normalises_first) {
      const Tensor sum = ops::add(x, branch(x));
      return by_child(norm, sum);
    }
    return ops::add(x, branch(by_child(norm, x)));
  };
  Tensor x = std::get<Tensor>(inputs[0]);
  x = around(x, kNorm1, [&](Tensor seen) { return attended(std::move(seen), inputs); });
  x = around(x, kNorm2, [&](Tensor seen) { return transformed(std::move(seen)); });
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

namespace {

// Whether a mask leaves out what comes later, and nothing else: PyTorch compares it with one that
// does. Without values it is none.
bool is_causal_mask(const Tensor& mask) {
  constexpr double kLeftOut = -std::numeric_limits<double>::infinity();
  const Shape square(2, mask.size(-2));
  Tensor causal;
  {
    const Tensor all_left_out = full(square, kLeftOut, options_of(mask));
    causal = ops::triu(all_left_out, 1);
  }
  if (!(mask.shape() == square)) return false;
  Tensor verdict;
  {
    const Tensor is_equal = ops::eq(mask, causal);
    verdict = empty({}, {DType::boolean, mask.device()});
  }
  return mask.has_values() && to_doubles(mask) == to_doubles(causal);
}

}  // namespace

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
