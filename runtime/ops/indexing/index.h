// Elements that index tensors name, as x[i, :, j] of Python.
#pragma once

#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// input[…, i, j, …]: an index tensor for each dimension in `dims`, or for the first ones; they are
/// broadcast together. What they name stands in the result where those dimensions were, or in front
/// where others lie between them. The gradient is added up by a kernel that sorts the indices
/// first.
///
/// Indices are int64 (or int32) tensors on the input's device and may count from the end; values
/// out of range are refused where there are values. A mask, a bool tensor, stands for the places
/// where it is true, in as many dimensions as it has: see selection.h. `dims` are different and
/// ascending. Errors: std::invalid_argument naming shapes.
Tensor index(const Tensor& input, const std::vector<Tensor>& indices,
             const std::optional<Shape>& dims = std::nullopt);

/// Whether it is an integer in a tensor without dimensions, which is read, and selects.
bool is_one_place(const Tensor& index);

/// The same as programs write it: an integer in a tensor without dimensions selects first, as a
/// number does, and the result is a view where nothing else is among the indices.
Tensor subscripted(const Tensor& input, const std::vector<Tensor>& indices,
                   const std::optional<Shape>& dims = std::nullopt);

std::vector<OpDef> index_ops();

}  // namespace ohm::ops
