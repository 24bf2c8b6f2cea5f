// Views: ops that look at the same bytes in another way.
//
// A view allocates nothing and keeps the storage of its base alive. Dimensions count from 0, or
// from the end when negative. Errors: std::invalid_argument naming op and shape.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// At most one size may be -1: it is what is left. Throws when the strides do not allow a view.
Tensor view(const Tensor& input, const Shape& shape);
/// As view, of a tensor that has no other owner: the result is a tensor of its own, not a view.
Tensor unsafe_view(const Tensor& input, const Shape& shape);
/// As view; a copy where no view is possible.
Tensor reshape(const Tensor& input, const Shape& shape);
/// The same without a place in the graph: a view where the strides allow it, else of a copy.
Tensor unrecorded_reshape(const Tensor& input, const Shape& shape);
Tensor flatten(const Tensor& input, std::int64_t start_dim, std::int64_t end_dim);
Tensor transpose(const Tensor& input, std::int64_t dim0, std::int64_t dim1);
/// A matrix transposed; tensors of fewer dimensions as they are.
Tensor t(const Tensor& input);
Tensor permute(const Tensor& input, const Shape& dims);
/// Sizes of 1 repeated to `shape`, without memory; -1 keeps a size.
Tensor expand(const Tensor& input, const Shape& shape);
/// The same without a place in the graph, to a shape that the tensor broadcasts to.
Tensor broadcast_view(const Tensor& tensor, const Shape& shape);
Tensor unsqueeze(const Tensor& input, std::int64_t dim);
/// Drops dimension `dim` when its size is 1; without `dim` all such.
Tensor squeeze(const Tensor& input, std::optional<std::int64_t> dim);
std::vector<OpDef> view_ops();

/// The sizes of a view of `numel` elements: -1 replaced by what is left. For ops that reshape.
Shape inferred_shape(const Shape& wanted, std::int64_t numel, const char* op);

}  // namespace ohm::ops
