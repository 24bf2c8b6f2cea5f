// A table of vectors, looked up by index.
#pragma once

#include "runtime/nn/module.h"

namespace ohm::nn {

/// Rows of a table: int64 indices [*] -> [*, embedding_dim]. weight [num_embeddings, embedding_dim]
/// starts standard normal.
class Embedding final : public UnaryModule<Embedding> {
 public:
  Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim,
            const ParameterOptions& options);

  std::string_view type_name() const override { return "Embedding"; }

 protected:
  Tensor apply(const Tensor& input) override;
};

}  // namespace ohm::nn
