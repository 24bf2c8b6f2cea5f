// Products of tensors that PyTorch composes of matrix products, of products of elements, or has a
// kernel of its own for. Errors: std::invalid_argument naming op and shapes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// The sum over pairs of dimensions, as one matrix product: the last `dims` of `a` and the first of
/// `b`, or those that both lists name.
Tensor tensordot(const Tensor& a, const Tensor& b, std::int64_t dims,
                 const std::optional<Shape>& dims_self, const std::optional<Shape>& dims_other);
/// Products of the last dimensions; of numbers, products of elements.
Tensor inner(const Tensor& input, const Tensor& other);
/// Each element of `input` times all of `other`, as blocks.
Tensor kron(const Tensor& input, const Tensor& other);
/// Vector products along a dimension of size 3; without `dim`, the first one.
Tensor cross(const Tensor& input, const Tensor& other, std::optional<std::int64_t> dim);

std::vector<OpDef> contraction_ops();

}  // namespace ohm::ops
