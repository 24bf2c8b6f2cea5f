// Rows of a table by index.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/ops/embedding/embedding_renorm.h"
#include "runtime/ops/op.h"

namespace ohm::ops {

/// weight[input], of rows that are shortened to `bound` first: `input` is int64 or int32 of any
/// shape [*], `weight` [rows, width], the result
/// [*, width]. The indices are kept. The gradient is dense, of the weight's shape; rows of
/// `padding_idx` get none. For more than 3,072 indices the GPU's kernel sorts them first, with
/// about a dozen temporaries. Throws std::invalid_argument for an index outside the table.
Tensor embedding(const Tensor& input, const Tensor& weight, std::optional<std::int64_t> padding_idx,
                 const std::optional<RowBound>& bound = std::nullopt);

std::vector<OpDef> embedding_ops();

}  // namespace ohm::ops
