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

/// The same in place. In the place of a copy, the input becomes a part of the graph.
Tensor scatter_(const Tensor& input, std::int64_t dim, const Tensor& index,
                const TensorOrNumber& source);
Tensor index_add_(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& source,
                  double alpha);
/// input[index] += source in place, along `dim`.
Tensor scatter_add_(const Tensor& input, std::int64_t dim, const Tensor& index,
                    const Tensor& source);

/// A last dimension of `num_classes` more: 1 where the index stands, 0 elsewhere. int64.
Tensor one_hot(const Tensor& input, std::int64_t num_classes);

std::vector<OpDef> scatter_ops();

}  // namespace ohm::ops
