// Tensors with dimensions put in front or behind, and tensors that are stacked along those.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// At least one, two or three dimensions: views where some are missing.
Tensor atleast_1d(const Tensor& input);
Tensor atleast_2d(const Tensor& input);
Tensor atleast_3d(const Tensor& input);
/// All combinations of one element of each vector, a row each.
Tensor cartesian_prod(const std::vector<Tensor>& tensors);
/// Matrices one after the other along the diagonal of zeros.
Tensor block_diag(const std::vector<Tensor>& tensors);

std::vector<OpDef> stacking_ops();

}  // namespace ohm::ops
