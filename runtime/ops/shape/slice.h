// Parts of a tensor along one dimension. All are views: they allocate nothing and keep the storage
// of their base alive. Errors: std::invalid_argument naming op and shape.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// Index `index` of dimension `dim`, which is dropped. The gradient fills a zero tensor.
Tensor select(const Tensor& input, std::int64_t dim, std::int64_t index);
/// `length` entries of dimension `dim` from `start`. The gradient fills a zero tensor.
Tensor narrow(const Tensor& input, std::int64_t dim, std::int64_t start, std::int64_t length);
/// Every `step`-th entry of dimension `dim` from `start` up to `end` (none: to the last): Python's
/// x[start:end:step], where negative numbers count from the end and what lies outside is left out.
/// Without all three it is Python's full slice, which is a node of its own in older versions alone.
Tensor slice(const Tensor& input, std::int64_t dim, std::optional<std::int64_t> start,
             std::optional<std::int64_t> end, std::int64_t step);
/// The elements whose index of `dim2` is that of `dim1` plus `offset`, as a last dimension instead
/// of those two. The gradient fills a zero tensor.
Tensor diagonal(const Tensor& input, std::int64_t offset, std::int64_t dim1, std::int64_t dim2);
/// Pieces of `split_size` along `dim`; the last may be shorter.
std::vector<Tensor> split(const Tensor& input, std::int64_t split_size, std::int64_t dim);
/// One size: pieces of that size. More: pieces of these sizes, which must sum up to the
/// dimension's.
std::vector<Tensor> split(const Tensor& input, const Shape& sizes, std::int64_t dim);
/// Pieces of these sizes, be it one.
std::vector<Tensor> split_by_sizes(const Tensor& input, const Shape& sizes, std::int64_t dim);
/// One piece for each index of `dim`, which is dropped.
std::vector<Tensor> unbind(const Tensor& input, std::int64_t dim);
/// At most `chunks` pieces of equal size along `dim`; the last may be shorter.
std::vector<Tensor> chunk(const Tensor& input, std::int64_t chunks, std::int64_t dim);

std::vector<OpDef> slice_ops();

}  // namespace ohm::ops
