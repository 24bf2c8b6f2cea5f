#include "runtime/nn/embedding.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/ops/embedding.h"
#include "runtime/tensor/factories.h"

namespace ohm::nn {

Embedding::Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim,
                     const ParameterOptions& options) {
  if (num_embeddings <= 0 || embedding_dim <= 0) {
    throw std::invalid_argument(fmt::format("[Embedding] sizes must be positive, not {} and {}",
                                            num_embeddings, embedding_dim));
  }
  const Tensor weight = constant_parameter({num_embeddings, embedding_dim}, 0.0, options);
  fill_normal(weight, 0.0, 1.0);
  add_parameter("weight", weight);
}

Tensor Embedding::apply(const Tensor& input) {
  return ops::embedding(input, own_parameter(0), std::nullopt);
}

}  // namespace ohm::nn
