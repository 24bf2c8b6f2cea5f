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
#include "runtime/ops/embedding/embedding_renorm.h"

namespace ohm::nn {

/// Rows of a table: int64 indices [*] -> [*, embedding_dim]. weight [num_embeddings, embedding_dim]
/// starts standard normal; row `padding_idx` starts as zeros and gets no gradient. With a bound
/// rows that are looked up are shortened to it first.
class Embedding final : public UnaryModule<Embedding> {
 public:
  Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim,
            std::optional<std::int64_t> padding_idx, std::optional<ops::RowBound> bound,
            const ParameterOptions& options);

  std::string_view type_name() const override { return "Embedding"; }

 protected:
  Tensor apply(const Tensor& input) override;

 private:
  std::optional<std::int64_t> padding_idx_;
  std::optional<ops::RowBound> bound_;
};

struct EmbeddingBagOptions {
  std::string mode = "mean";         ///< or "sum", "max"
  bool include_last_offset = false;  ///< offsets [bags + 1] end with the end of the last bag
  std::optional<std::int64_t> padding_idx = std::nullopt;
};

/// Sums, means or maxima of rows of a table: indices [bags, count], or indices [count] and offsets
/// [bags], -> [bags, embedding_dim]; with mode "sum" each index may have a weight of its own.
/// weight [num_embeddings, embedding_dim] starts standard normal; row `padding_idx` starts as
/// zeros, and no bag counts it.
class EmbeddingBag final : public CopyableModule<EmbeddingBag> {
 public:
  EmbeddingBag(std::int64_t num_embeddings, std::int64_t embedding_dim,
               const EmbeddingBagOptions& options, const ParameterOptions& parameters);

  std::string_view type_name() const override { return "EmbeddingBag"; }
  std::span<const std::string_view> input_names() const override { return kInputNames; }

  using Module::forward;
  Value forward(const std::vector<Value>& inputs) override;

 private:
  static constexpr std::string_view kInputNames[] = {"input", "offsets", "per_sample_weights"};

  EmbeddingBagOptions options_;
};

}  // namespace ohm::nn
