// A table of vectors, looked up by index.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/nn/module.h"
#include "runtime/nn/new_parameter.h"

namespace ohm::nn {

/// Rows of a table: int64 indices [*] -> [*, embedding_dim]. weight [num_embeddings, embedding_dim]
/// starts standard normal; row `padding_idx` starts as zeros and gets no gradient.
class Embedding final : public UnaryModule<Embedding> {
 public:
  Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim,
            std::optional<std::int64_t> padding_idx, const ParameterOptions& options);

  std::string_view type_name() const override { return "Embedding"; }

 protected:
  Tensor apply(const Tensor& input) override;

 private:
  std::optional<std::int64_t> padding_idx_;
};

/// Sums or means of rows of a table: indices [bags, count] -> [bags, embedding_dim]. weight
/// [num_embeddings, embedding_dim] starts standard normal. `mode` is "sum" or "mean".
class EmbeddingBag final : public UnaryModule<EmbeddingBag> {
 public:
  EmbeddingBag(std::int64_t num_embeddings, std::int64_t embedding_dim, std::string mode,
               const ParameterOptions& options);

  std::string_view type_name() const override { return "EmbeddingBag"; }

 protected:
  Tensor apply(const Tensor& input) override;

 private:
  std::string mode_;
};

}  // namespace ohm::nn
