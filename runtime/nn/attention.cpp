#include "runtime/nn/attention.h"
#include "runtime/nn/new_parameter.h"

#include <fmt/core.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>

#include "runtime/arithmetic/factories.h"
#include "runtime/lifetimes/lifetimes.h"
#include "runtime/nn/linear.h"
#include "runtime/ops/activation/softmax.h"
#include "runtime/ops/attention/attention.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/indexing/indexing.h"
#include "runtime/ops/matmul/linear.h"
#include "runtime/ops/matmul/matmul.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/random/dropout.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/shape/concat.h"
#include "runtime/ops/shape/rearrange.h"
#include "runtime/ops/shape/slice.h"
#include "runtime/ops/shape/view.h"
#include "runtime/tensor/context.h"

namespace ohm::nn {

namespace {

// [length, N, parts·E] as `parts` tensors [length, N, E] that lie behind one another.
std::vector<Tensor> separated(Tensor projected, std::int64_t parts) try {
  Shape sizes = projected.shape();
  sizes[2] = parts;
  sizes.push_back(projected.size(2) / parts);
  projected = ops::contiguous(
      ops::squeeze(ops::transpose(ops::unsqueeze(ops::view(projected, sizes), 0), 0, -2), -2));
  std::vector<Tensor> pieces;
  for (std::int64_t part = 0; part < parts; ++part) {
    pieces.push_back(ops::select(projected, 0, part));
  }
  return pieces;
} catch (...) {
  hold_variables({projected});
  throw;
}

Tensor swapped(const Tensor& tensor) { return ops::transpose(tensor, 1, 0); }

std::optional<Tensor> tensor_or_nothing(const Value& value) {
  const Tensor* tensor = std::get_if<Tensor>(&value);
  return tensor == nullptr ? std::nullopt : std::optional<Tensor>(*tensor);
}

// `row` behind the others along `dim`.
Tensor with_row(const Tensor& rows, Tensor row, std::int64_t dim) {
  return ops::cat({rows, std::move(row)}, dim);
}

// What was added behind the keys is left out by no mask.
void let_in_one_more(AttentionMasks& masks) {
  for (std::optional<Tensor>* const mask : {&masks.attention, &masks.padding}) {
    if (*mask) *mask = ops::pad(**mask, {0, 1}, "constant", 0.0);
  }
}

void drop(std::initializer_list<Tensor*> tensors) {
  for (Tensor* const each : tensors) *each = Tensor();
}

// Newer versions let go of these here, older ones when they return.
void drop_if_early(std::initializer_list<Tensor*> used) {
  if (Context::current().rules.attention_drops_projections_early) drop(used);
}

}  // namespace

/// [N·heads, length, E/heads] each.
struct MultiheadAttention::Heads {
  Tensor query;
  Tensor key;
  Tensor value;

  std::int64_t queries() const { return query.size(1); }
  std::int64_t keys() const { return key.size(1); }
};

/// The mask of a call, and the padding's part of it, which is an argument there as long as it is.
struct MultiheadAttention::MergedMask {
  Tensor padding;
  std::optional<Tensor> mask;

  void drop() {
    padding = Tensor();
    mask.reset();
  }
  void hold() const { hold_variables({padding, mask.value_or(Tensor())}); }
};

MultiheadAttention::MultiheadAttention(std::int64_t width, std::int64_t heads,
                                       const MultiheadAttentionOptions& options,
                                       const ParameterOptions& parameters)
    : width_(width), heads_(heads), options_(options) {
  if (width <= 0 || heads <= 0 || width % heads != 0) {
    throw std::invalid_argument(fmt::format(
        "[MultiheadAttention] embed_dim must be divisible by num_heads: {} by {}", width, heads));
  }
  add_weights(parameters);
  add_parameter("in_proj_bias",
                options.has_bias ? constant_parameter({3 * width}, 0.0, parameters) : Tensor());
  auto out = std::make_shared<Linear>(width, width, options.has_bias, parameters);
  if (options.has_bias) fill_values(out->own_parameters()[1].tensor, 0.0);
  add_child("out_proj", std::move(out));
  if (!options.adds_bias_key) return;
  for (const char* name : {"bias_k", "bias_v"}) {
    const Tensor row = constant_parameter({1, 1, width}, 0.0, parameters);
    fill_normal(row, 0.0, std::sqrt(1.0 / static_cast<double>(width)));
    add_parameter(name, row);
  }
}

void MultiheadAttention::add_weights(const ParameterOptions& parameters) {
  const auto weight_of = [&](std::int64_t rows, std::int64_t columns) {
    const double bound = std::sqrt(6.0 / static_cast<double>(rows + columns));
    return uniform_parameter({rows, columns}, bound, parameters);
  };
  if (key_width() == width_ && value_width() == width_) {
    add_parameter("in_proj_weight", weight_of(3 * width_, width_));
    return;
  }
  add_parameter(std::string(kQueryWeight), weight_of(width_, width_));
  add_parameter("k_proj_weight", weight_of(width_, key_width()));
  add_parameter("v_proj_weight", weight_of(width_, value_width()));
}

std::vector<Tensor> MultiheadAttention::projections(const Tensor& query, const Tensor& key,
                                                    const Tensor& value) const {
  if (!has_own_weights()) return packed_projections(query, key, value);
  const Tensor& bias = own_parameter(bias_slot());
  const std::vector<Tensor> biases =
      bias.defined() ? ops::split(bias, Shape{width_, width_, width_}, 0) : std::vector<Tensor>(3);
  std::vector<Tensor> parts;
  for (const auto& [input, slot] :
       {std::pair(&query, 0U), std::pair(&key, 1U), std::pair(&value, 2U)}) {
    parts.push_back(ops::linear(*input, own_parameter(slot), if_defined(biases[slot])));
  }
  return parts;
}

// One product for all three where they come from one tensor, two where key and value do.
std::vector<Tensor> MultiheadAttention::packed_projections(const Tensor& query, const Tensor& key,
                                                           const Tensor& value) const {
  const Tensor& weight = own_parameter(0);
  const Tensor& bias = own_parameter(1);
  std::vector<Tensor> parts;
  if (query.is_same(key) && key.is_same(value)) {
    parts = separated(ops::linear(query, weight, if_defined(bias)), 3);
  } else {
    const bool shares = key.is_same(value);
    const Shape sections = shares ? Shape{width_, 2 * width_} : Shape{width_, width_, width_};
    const std::vector<Tensor> weights = ops::split(weight, sections, 0);
    const std::vector<Tensor> biases =
        bias.defined() ? ops::split(bias, sections, 0) : std::vector<Tensor>(weights.size());
    parts.push_back(ops::linear(query, weights[0], if_defined(biases[0])));
    Tensor rest = ops::linear(key, weights[1], if_defined(biases[1]));
    if (shares) {
      std::vector<Tensor> pair = separated(std::exchange(rest, Tensor()), 2);
      parts.insert(parts.end(), pair.begin(), pair.end());
    } else {
      parts.push_back(std::move(rest));
      parts.push_back(ops::linear(value, weights[2], if_defined(biases[2])));
    }
  }
  return parts;
}

// A key and a value more for each sample, of rows [length, N, E].
void MultiheadAttention::add_bias_key(std::vector<Tensor>& parts, AttentionMasks& masks) const {
  const std::int64_t batch = parts[0].size(1);
  for (const std::size_t part : {std::size_t{1}, std::size_t{2}}) {
    const Tensor& row = own_parameter(bias_slot() + part);
    parts[part] = with_row(parts[part], ops::repeat(row, {1, batch, 1}), 0);
  }
  let_in_one_more(masks);
}

void MultiheadAttention::add_zero_key(Heads& heads, AttentionMasks& masks) const {
  for (Tensor* const part : {&heads.key, &heads.value}) {
    *part = with_row(*part, zeros({part->size(0), 1, part->size(2)}, options_of(*part)), 1);
  }
  let_in_one_more(masks);
}

MultiheadAttention::Heads MultiheadAttention::projected(const Tensor& query, const Tensor& key,
                                                        const Tensor& value,
                                                        AttentionMasks& masks) const {
  std::vector<Tensor> parts = projections(query, key, value);
  if (options_.adds_bias_key) add_bias_key(parts, masks);
  const auto by_heads = [&](const Tensor& part) {
    return ops::transpose(ops::view(part, {part.size(0), part.size(1) * heads_, width_ / heads_}),
                          0, 1);
  };
  Heads heads{by_heads(parts[0]), by_heads(parts[1]), by_heads(parts[2])};
  parts.clear();
  if (options_.adds_zero_key) add_zero_key(heads, masks);
  return heads;
}

// After the projections, as in PyTorch.
MultiheadAttention::MergedMask MultiheadAttention::merged_mask(AttentionMasks masks,
                                                               std::int64_t batch,
                                                               std::int64_t keys) const {
  MergedMask merged;
  merged.mask = std::move(masks.attention);
  if (merged.mask && merged.mask->dims() == 2) merged.mask = ops::unsqueeze(*merged.mask, 0);
  if (!masks.padding) return merged;
  merged.padding = ops::reshape(
      ops::expand(ops::view(*masks.padding, {batch, 1, 1, keys}), {-1, heads_, -1, -1}),
      {batch * heads_, 1, keys});
  masks.padding.reset();
  merged.mask = merged.mask ? ops::add(*merged.mask, merged.padding) : merged.padding;
  return merged;
}

// rows [L·N, E] through the last layer.
Tensor MultiheadAttention::output_of(const Tensor& rows, std::int64_t length) const {
  const Tensor output = children()[0].module->call(rows);
  return ops::view(output, {length, rows.size(0) / length, width_});
}

MultiheadAttention::Result MultiheadAttention::weighted(Heads heads, MergedMask merged,
                                                        bool averages) const {
  Tensor query;
  Tensor weights;
  Tensor output;
  try {
    const std::int64_t batch = heads.query.size(0) / heads_;
    const std::int64_t queries = heads.queries();
    const std::int64_t keys = heads.keys();
    query = ops::mul(heads.query, std::sqrt(1.0 / static_cast<double>(heads.query.size(2))));
    {
      const Tensor turned_key = ops::transpose(heads.key, -2, -1);
      weights = merged.mask ? ops::baddbmm(*merged.mask, query, turned_key, 1.0, 1.0)
                            : ops::bmm(query, turned_key);
    }
    drop_if_early({&query, &heads.key});
    weights = ops::softmax(weights, -1, std::nullopt);
    weights = ops::dropout(weights, options_.dropout, is_training());
    output = ops::bmm(weights, heads.value);
    drop_if_early({&heads.value});
    output = ops::view(ops::contiguous(ops::transpose(output, 0, 1)), {queries * batch, width_});
    output = output_of(output, queries);
    weights = ops::view(weights, {batch, heads_, queries, keys});
    if (averages) weights = ops::mean(weights, Shape{1}, false);
    merged.drop();  // arguments there: they go before the function's own variables
    drop({&heads.query, &heads.key, &heads.value, &query});
    return {output, weights};
  } catch (...) {
    merged.hold();
    hold_variables({heads.query, heads.key, heads.value, query, weights, output});
    throw;
  }
}

MultiheadAttention::Result MultiheadAttention::fused(Heads heads, MergedMask merged,
                                                     bool is_causal) const {
  const std::int64_t batch = heads.query.size(0) / heads_;
  const std::int64_t queries = heads.queries();
  std::optional<Tensor> mask = merged.mask;
  Tensor output;
  try {
    if (mask) {
      mask = mask->size(0) == 1 ? ops::unsqueeze(*mask, 0)
                                : ops::view(*mask, {batch, heads_, -1, heads.keys()});
    }
    const auto by_batch = [&](const Tensor& tensor) {
      return ops::view(tensor, {batch, heads_, tensor.size(1), tensor.size(2)});
    };
    const double dropped = is_training() ? options_.dropout : 0.0;
    heads = {by_batch(heads.query), by_batch(heads.key), by_batch(heads.value)};
    output = ops::scaled_dot_product_attention(heads.query, heads.key, heads.value, mask, dropped,
                                               is_causal, std::nullopt);
    drop_if_early({&heads.query, &heads.key, &heads.value});
    output =
        ops::view(ops::contiguous(ops::permute(output, {2, 0, 1, 3})), {batch * queries, width_});
    output = output_of(output, queries);
    mask.reset();
    merged.drop();
    drop({&heads.query, &heads.key, &heads.value});
    return {output, Tensor()};
  } catch (...) {
    merged.hold();
    hold_variables({heads.query, heads.key, heads.value, output});
    throw;
  }
}

bool MultiheadAttention::prepares_native_call(const Call& call) const {
  const bool is_self_attention = call.query.is_same(call.key) && call.key.is_same(call.value);
  const auto has_booleans = [](const std::optional<Tensor>& mask) {
    return !mask || mask->dtype() == DType::boolean;
  };
  const Module& out = *children()[0].module;
  if (has_own_weights() || options_.adds_bias_key || options_.adds_zero_key) return false;
  return call.query.dims() == 3 && is_self_attention &&
         call.query.dtype() == own_parameter(0).dtype() && !is_training() && heads_ % 2 == 0 &&
         options_.is_batch_first && has_booleans(call.attn_mask) &&
         has_booleans(call.key_padding_mask) && !is_autocast_on() &&
         !is_graph_wanted({call.query, own_parameter(0), own_parameter(1), out.own_parameter(0),
                           out.own_parameter(1)});
}

ops::AttentionParameters MultiheadAttention::native_parameters() const {
  const Module& out = *children()[0].module;
  return {heads_, own_parameter(0), own_parameter(1), out.own_parameter(0), out.own_parameter(1)};
}

MultiheadAttention::Result MultiheadAttention::by_steps(const Call& call,
                                                        AttentionMasks masks) const {
  // What is one tensor stays one.
  const bool is_batched = call.query.dims() == 3;
  const auto by_length = [&](const Tensor& tensor) {
    if (!is_batched) return ops::unsqueeze(tensor, 1);
    return options_.is_batch_first ? swapped(tensor) : tensor;
  };
  const Tensor query = by_length(call.query);
  const Tensor key = call.key.is_same(call.query) ? query : by_length(call.key);
  const Tensor value = call.value.is_same(call.key) ? key : by_length(call.value);
  const bool is_redundant = call.is_causal && !masks.padding && !call.needs_weights;
  if (is_redundant) masks.attention.reset();  // the hint says the same
  Heads heads = projected(query, key, value, masks);
  MergedMask merged = merged_mask(std::move(masks), query.size(1), heads.keys());
  const bool is_causal = call.is_causal && !merged.mask;
  Result result = call.needs_weights
                      ? weighted(std::move(heads), std::move(merged), call.averages_weights)
                      : fused(std::move(heads), std::move(merged), is_causal);
  if (!is_batched) {
    result.output = ops::squeeze(result.output, 1);
    if (call.needs_weights) result.weights = ops::squeeze(result.weights, 0);
  } else if (options_.is_batch_first) {
    result.output = swapped(result.output);
  }
  return result;
}

void MultiheadAttention::require_fitting(const Call& call) const {
  const int dims = call.query.dims();
  const auto has_width = [&](const Tensor& tensor, std::int64_t width) {
    return tensor.dims() == dims && tensor.size(-1) == width;
  };
  const auto rows_of = [](const Tensor& tensor) {
    Shape rows = tensor.shape();
    rows.erase(rows.dims() - 1);
    return rows;
  };
  if ((dims != 2 && dims != 3) || !has_width(call.query, width_) ||
      !has_width(call.key, key_width()) || !has_width(call.value, value_width()) ||
      !(rows_of(call.key) == rows_of(call.value))) {
    throw std::invalid_argument(fmt::format(
        "[MultiheadAttention] query {}, key {} and value {} do not fit embed_dim {}",
        call.query.shape().str(), call.key.shape().str(), call.value.shape().str(), width_));
  }
}

MultiheadAttention::Result MultiheadAttention::attend(const Call& call) const try {
  require_fitting(call);
  std::optional<Tensor> merged;  // declared first: it goes last
  AttentionMasks masks(call.key_padding_mask, call.attn_mask, call.query.dtype());
  const bool is_prepared = prepares_native_call(call);
  if (is_prepared) merged = masks.merged(call.query, heads_);
  Result result;
  if (is_prepared && options_.has_bias) {
    using ops::WantedWeights;
    const WantedWeights wanted = !call.needs_weights     ? WantedWeights::none
                                 : call.averages_weights ? WantedWeights::averaged
                                                         : WantedWeights::of_each_head;
    auto [output, weights] =
        ops::native_multi_head_attention(call.query, native_parameters(), merged, wanted);
    result = {std::move(output), std::move(weights)};
  } else {
    result = by_steps(call, masks);
  }
  masks.padding.reset();
  return result;
} catch (...) {
  hold_variables({call.query, call.key, call.value});
  throw;
}

Value MultiheadAttention::forward(const std::vector<Value>& inputs) {
  constexpr std::size_t kMostInputs = 8;
  const auto is_tensor = [&](std::size_t i) { return std::holds_alternative<Tensor>(inputs[i]); };
  if (inputs.size() < 3 || inputs.size() > kMostInputs || !is_tensor(0) || !is_tensor(1) ||
      !is_tensor(2)) {
    throw std::invalid_argument(
        "[MultiheadAttention] takes query, key and value, then key_padding_mask, need_weights, "
        "attn_mask, average_attn_weights and is_causal");
  }
  const auto input = [&](std::size_t i) { return i < inputs.size() ? inputs[i] : Value(); };
  const auto flag = [&](std::size_t i, bool fallback) {
    const Value value = input(i);
    const bool* given = std::get_if<bool>(&value);
    return given == nullptr ? fallback : *given;
  };
  Call call{std::get<Tensor>(inputs[0]), std::get<Tensor>(inputs[1]), std::get<Tensor>(inputs[2]),
            tensor_or_nothing(input(3)), tensor_or_nothing(input(5))};
  call.needs_weights = flag(4, true);
  call.averages_weights = flag(6, true);
  call.is_causal = flag(7, false);
  Result result = attend(call);
  if (!result.weights.defined()) return std::move(result.output);
  return std::vector<Tensor>{std::move(result.output), std::move(result.weights)};
}

}  // namespace ohm::nn
