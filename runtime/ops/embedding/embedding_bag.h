// Bags of rows of a table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// Where the bags begin, and how their rows count.
struct BagOptions {
  std::optional<Tensor> offsets = std::nullopt;             ///< [bags], of indices [count]
  std::optional<Tensor> per_sample_weights = std::nullopt;  ///< of the indices' shape; mode "sum"
  bool include_last_offset = false;  ///< offsets [bags + 1] end with the end of the last bag
  std::optional<std::int64_t> padding_idx = std::nullopt;  ///< a row that no bag counts
};

/// Sums, means or maxima of the rows that each bag of indices names: `input` [bags, count], or
/// [count] with offsets; `weight` [rows, width], the result [bags, width]. `mode` is "sum", "mean"
/// or "max"; a bag of nothing gives zeros. The GPU's kernel keeps the bags' places and sizes, and
/// the rows of maxima; it sorts the indices for the gradient of sums and means, whatever their
/// number.
Tensor embedding_bag(const Tensor& input, const Tensor& weight, const std::string& mode,
                     const BagOptions& options);

std::vector<OpDef> embedding_bag_ops();

}  // namespace ohm::ops
