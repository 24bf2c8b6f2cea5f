// Norms as torch.linalg has them: of vectors, and of matrices by their rows, columns or elements.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// The number of a norm, or its word.
using NormOrder = std::variant<double, std::string>;

/// Of the matrices that the two dimensions `dim` are: "fro", the root of the sum of squares; 1 and
/// −1, the largest and the smallest sum of sizes of a column; ±infinity, of a row. Throws
/// std::invalid_argument for norms that are made of singular values.
Tensor matrix_norm(const Tensor& input, const NormOrder& order, const Shape& dim, bool keepdim,
                   std::optional<DType> dtype = {});

/// norm() of order 2 of everything where no order is given; matrix_norm() of two dimensions, or of
/// a matrix where none are named; else norm() over the dimension.
Tensor vector_or_matrix_norm(const Tensor& input, const std::optional<NormOrder>& order,
                             const std::optional<Shape>& dim, bool keepdim,
                             std::optional<DType> dtype = {});

}  // namespace ohm::ops
