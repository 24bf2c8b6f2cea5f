#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// A copy of `input` with out[…index[…]…] = source along `dim`; a number is written everywhere.
/// Keeps the index.
Tensor scatter(const Tensor& input, std::int64_t dim, const Tensor& index,
               const TensorOrNumber& source);

/// A copy of `input` with alpha · source added to the entries of `dim` that a one-dimensional index
/// names.
Tensor index_add(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& source,
                 double alpha);

/// A last dimension of `num_classes` more: 1 where the index stands, 0 elsewhere. int64.
Tensor one_hot(const Tensor& input, std::int64_t num_classes);

std::vector<OpDef> scatter_ops();

}  // namespace ohm::ops
