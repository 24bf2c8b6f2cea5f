// Diagonals of matrices, matrices of diagonals, and tensors that are turned and mirrored.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// Zeros with the last dimension of `input` on the diagonal of the dimensions `dim1` and `dim2` of
/// the result, which has one dimension more. The gradient is a diagonal of the incoming one.
Tensor diag_embed(const Tensor& input, std::int64_t offset, std::int64_t dim1, std::int64_t dim2);
/// The diagonal of a matrix, in a copy; the matrix with a vector on its diagonal.
Tensor diag(const Tensor& input, std::int64_t diagonal);
/// The sum of a matrix's diagonal.
Tensor trace(const Tensor& input);
/// Turned by `k` right angles in the plane of two dimensions, from the first to the second; a copy.
Tensor rot90(const Tensor& input, std::int64_t k, const Shape& dims);

std::vector<OpDef> diagonal_ops();

}  // namespace ohm::ops
