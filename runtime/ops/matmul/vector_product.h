// Products of a vector with a vector or a matrix.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// The sum of products of two vectors of one length.
Tensor dot(const Tensor& input, const Tensor& other);
/// matrix [n, m] times vector [m].
Tensor mv(const Tensor& input, const Tensor& vec);

std::vector<OpDef> vector_product_ops();

}  // namespace ohm::ops
