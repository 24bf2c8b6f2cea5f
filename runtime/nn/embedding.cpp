#include "runtime/nn/embedding.h"
#include "runtime/nn/new_parameter.h"

#include <fmt/core.h>

#include <iterator>
#include <stdexcept>

#include "runtime/arithmetic/factories.h"
#include "runtime/ops/embedding/embedding.h"
#include "runtime/ops/embedding/embedding_bag.h"

namespace ohm::nn {

namespace {

// Standard normal; the row of the padding is zeros.
Tensor new_table(std::string_view module, const Shape& shape,
                 std::optional<std::int64_t> padding_idx, const ParameterOptions& parameters) {
  if (shape[0] <= 0 || shape[1] <= 0) {
    throw std::invalid_argument(
        fmt::format("[{}] sizes must be positive, not {} and {}", module, shape[0], shape[1]));
  }
  const Tensor weight = constant_parameter(shape, 0.0, parameters);
  fill_normal(weight, 0.0, 1.0);
  if (!padding_idx) return weight;
  const std::int64_t row = *padding_idx < 0 ? *padding_idx + shape[0] : *padding_idx;
  if (row < 0 || row >= shape[0]) {
    throw std::invalid_argument(
        fmt::format("[{}] padding_idx {} must be within the {} rows of the table", module,
                    *padding_idx, shape[0]));
  }
  fill_values(make_view(weight, {shape[1]}, {1}, row * shape[1]), 0.0);
  return weight;
}

bool is_given(const std::vector<Value>& inputs, std::size_t i) {
  return inputs.size() > i && !std::holds_alternative<std::monostate>(inputs[i]);
}

std::optional<Tensor> tensor_if_given(const std::vector<Value>& inputs, std::size_t i) {
  return is_given(inputs, i) ? std::optional(std::get<Tensor>(inputs[i])) : std::nullopt;
}

}  // namespace

Embedding::Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim,
                     std::optional<std::int64_t> padding_idx, std::optional<ops::RowBound> bound,
                     const ParameterOptions& options)
    : padding_idx_(padding_idx), bound_(bound) {
  add_parameter("weight",
                new_table("Embedding", {num_embeddings, embedding_dim}, padding_idx, options));
}

Tensor Embedding::apply(const Tensor& input) {
  return ops::embedding(input, own_parameter(0), padding_idx_, bound_);
}

EmbeddingBag::EmbeddingBag(std::int64_t num_embeddings, std::int64_t embedding_dim,
                           const EmbeddingBagOptions& options, const ParameterOptions& parameters)
    : options_(options) {
  add_parameter("weight", new_table("EmbeddingBag", {num_embeddings, embedding_dim},
                                    options.padding_idx, parameters));
}

Value EmbeddingBag::forward(const std::vector<Value>& inputs) {
  bool fits = is_given(inputs, 0) && inputs.size() <= std::size(kInputNames);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    fits = fits && (!is_given(inputs, i) || std::holds_alternative<Tensor>(inputs[i]));
  }
  if (!fits) {
    throw std::invalid_argument(
        "[EmbeddingBag] takes a tensor of indices, one of offsets and one of weights");
  }
  return ops::embedding_bag(std::get<Tensor>(inputs[0]), own_parameter(0), options_.mode,
                            {tensor_if_given(inputs, 1), tensor_if_given(inputs, 2),
                             options_.include_last_offset, options_.padding_idx});
}

}  // namespace ohm::nn
