// Tensors and copies of them with entries of one dimension, or elements under a mask, written over.
// Errors: std::invalid_argument naming op and shapes.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// A copy of `input` with `value` in the entries of `dim` that a one-dimensional index names.
Tensor index_fill(const Tensor& input, std::int64_t dim, const Tensor& index, double value);
Tensor index_fill_(const Tensor& input, std::int64_t dim, const Tensor& index, double value);
/// The same with the entries of `source`, which has as many as the index.
Tensor index_copy(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& source);
Tensor index_copy_(const Tensor& input, std::int64_t dim, const Tensor& index,
                   const Tensor& source);
/// A row-major copy of `input` with the first elements of `source`, one after the other, where the
/// mask is true. The gradient of the source is known where the mask's values are.
Tensor masked_scatter(const Tensor& input, const Tensor& mask, const Tensor& source);
Tensor masked_scatter_(const Tensor& input, const Tensor& mask, const Tensor& source);

std::vector<OpDef> index_write_ops();

}  // namespace ohm::ops
