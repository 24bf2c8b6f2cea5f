// The common part of embeddings and bags of them: the table, and the scratch that sorts indices.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/ops/op.h"

namespace ohm::ops {

struct EmbeddingTable {
  std::int64_t rows;
  std::int64_t width;
  std::int64_t padding_row;  ///< -1: none
};

/// Throws std::invalid_argument where they cannot be indices and a table of rows.
void require_embedding(const Tensor& input, const Tensor& weight, const OpInfo& op);
/// Throws std::invalid_argument for a padding_idx outside the table; one below 0 counts from its
/// end.
EmbeddingTable embedding_table(const Tensor& weight, std::optional<std::int64_t> padding_idx,
                               const OpInfo& op);

/// The temporaries of the GPU's kernel for many indices; they go when the kernel is done, in
/// reverse order.
class SortingScratch {
 public:
  SortingScratch(const Tensor& input, const TensorOptions& grad_options);
  ~SortingScratch();
  SortingScratch(const SortingScratch&) = delete;
  SortingScratch& operator=(const SortingScratch&) = delete;

  void sort(std::int64_t rows);
  /// Runs of equal indices, split into pieces of ten rows that are added up one by one.
  void split_into_segments(const EmbeddingTable& table);

 private:
  bool adds_pieces_at_once(std::int64_t pieces, std::int64_t segments, std::int64_t width) const;
  std::int64_t index_bytes() const;
  void keep(std::int64_t count, const TensorOptions& options);
  void take_bytes(std::int64_t bytes);

  TensorOptions index_options_;
  TensorOptions grad_options_;
  std::int64_t count_;
  std::vector<Tensor> kept_;
};

}  // namespace ohm::ops
