#include "runtime/nn/embedding.h"
#include "runtime/nn/new_parameter.h"

#include <fmt/core.h>

#include <stdexcept>
#include <utility>

#include "runtime/arithmetic/factories.h"
#include "runtime/ops/embedding.h"

namespace ohm::nn {

Embedding::Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim,
                     std::optional<std::int64_t> padding_idx, const ParameterOptions& options)
    : padding_idx_(padding_idx) {
  if (num_embeddings <= 0 || embedding_dim <= 0) {
    throw std::invalid_argument(fmt::format("[Embedding] sizes must be positive, not {} and {}",
                                            num_embeddings, embedding_dim));
  }
  const Tensor weight = constant_parameter({num_embeddings, embedding_dim}, 0.0, options);
  fill_normal(weight, 0.0, 1.0);
  if (padding_idx_) {
    const std::int64_t row = *padding_idx_ < 0 ? *padding_idx_ + num_embeddings : *padding_idx_;
    if (row < 0 || row >= num_embeddings) {
      throw std::invalid_argument(
          fmt::format("[Embedding] padding_idx {} must be within the {} rows of the table",
                      *padding_idx_, num_embeddings));
    }
    fill_values(make_view(weight, {embedding_dim}, {1}, row * embedding_dim), 0.0);
  }
  add_parameter("weight", weight);
}

Tensor Embedding::apply(const Tensor& input) {
  return ops::embedding(input, own_parameter(0), padding_idx_);
}

EmbeddingBag::EmbeddingBag(std::int64_t num_embeddings, std::int64_t embedding_dim,
                           std::string mode, const ParameterOptions& options)
    : mode_(std::move(mode)) {
  if (num_embeddings <= 0 || embedding_dim <= 0) {
    throw std::invalid_argument(fmt::format("[EmbeddingBag] sizes must be positive, not {} and {}",
                                            num_embeddings, embedding_dim));
  }
  const Tensor weight = constant_parameter({num_embeddings, embedding_dim}, 0.0, options);
  fill_normal(weight, 0.0, 1.0);
  add_parameter("weight", weight);
}

Value EmbeddingBag::forward(const std::vector<Value>& inputs) {
  const bool has_offsets = inputs.size() > 1 && !std::holds_alternative<std::monostate>(inputs[1]);
  const bool fits = !inputs.empty() && inputs.size() <= 2 &&
                    std::holds_alternative<Tensor>(inputs[0]) &&
                    (!has_offsets || std::holds_alternative<Tensor>(inputs[1]));
  if (!fits) {
    throw std::invalid_argument("[EmbeddingBag] takes a tensor of indices and one of offsets");
  }
  std::optional<Tensor> offsets;
  if (has_offsets) offsets = std::get<Tensor>(inputs[1]);
  return ops::embedding_bag(std::get<Tensor>(inputs[0]), own_parameter(0), mode_, offsets);
}

}  // namespace ohm::nn
