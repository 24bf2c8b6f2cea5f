// Reductions of several entries of a source into one entry of a tensor: products, means, extrema.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// index_reduce: a row-major copy of `input` in which each entry along `dim` that a one-dimensional
/// index names is reduced with the entries of `source` that go there; without `include_self` what
/// stood there counts for nothing. `reduce` is prod, mean, amax or amin. index_reduce_ writes over
/// its input. Errors: std::invalid_argument naming op and shapes.
std::vector<OpDef> index_reduce_ops();

}  // namespace ohm::ops
