// Elements chosen by index tensors and masks.
//
// Indices are int64 (or int32) tensors on the input's device; values out of range are refused where
// there are values. Errors: std::invalid_argument naming op and shapes.
#pragma once

#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// out[…i…] = input[…index[…i…]…] along `dim`; the index has the input's number of dimensions. The
/// gradient is added into zeros of the input's size. Saves the index.
Tensor gather(const Tensor& input, std::int64_t dim, const Tensor& index);
/// The same with both broadcast in the other dimensions; without `dim`, of all elements in a row.
Tensor take_along_dim(const Tensor& input, const Tensor& indices, std::optional<std::int64_t> dim);
/// The entries of dimension `dim` that a one-dimensional index names.
Tensor index_select(const Tensor& input, std::int64_t dim, const Tensor& index);
/// A copy of `input` with index[…] += source along `dim`.
Tensor scatter_add(const Tensor& input, std::int64_t dim, const Tensor& index,
                   const Tensor& source);
/// The same of zeros: the gradient of what was gathered, in place. Recorded under create_graph.
Tensor scattered_sum(const Tensor& source, int dim, const Tensor& index, const Shape& shape);
inline constexpr OpInfo kMaskedFill{"masked_fill"};
inline constexpr OpInfo kMaskedFillInplace{"masked_fill_"};
/// A copy of `input` with `value` where the mask, which broadcasts to it, is true. Saves the mask.
Tensor masked_fill(const Tensor& input, const Tensor& mask, double value);
Tensor masked_fill_(const Tensor& input, const Tensor& mask, double value);

std::vector<OpDef> indexing_ops();

}  // namespace ohm::ops
