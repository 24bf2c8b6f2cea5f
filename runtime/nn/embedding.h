// A table of vectors, looked up by index.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// Sums or means of rows of a table: indices [bags, count], or indices [count] and offsets [bags],
/// -> [bags, embedding_dim]. weight [num_embeddings, embedding_dim] starts standard normal. `mode`
/// is "sum" or "mean".
class EmbeddingBag final : public CopyableModule<EmbeddingBag> {
 public:
  EmbeddingBag(std::int64_t num_embeddings, std::int64_t embedding_dim, std::string mode,
               const ParameterOptions& options);

  std::string_view type_name() const override { return "EmbeddingBag"; }
  std::span<const std::string_view> input_names() const override { return kInputNames; }

  using Module::forward;
  Value forward(const std::vector<Value>& inputs) override;

 private:
  static constexpr std::string_view kInputNames[] = {"input", "offsets"};

  std::string mode_;
};

}  // namespace ohm::nn
