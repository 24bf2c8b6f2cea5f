// Distances between each row of a matrix and each row of another.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// The distances by the norm `p` between each row of x1 [*, n, width] and each of x2
/// [*, m, width]: [*, n, m]. With p = 2 and more than 25 rows in one of them they come from a
/// product of matrices, whose squares may lose what rows that are far away have in common.
Tensor cdist(const Tensor& x1, const Tensor& x2, double p);

std::vector<OpDef> row_distance_ops();

}  // namespace ohm::ops
