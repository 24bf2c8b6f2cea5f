// Reductions of several elements of a source into one place of a tensor: sums, products, means, …
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// A row-major copy of `input` in which each place that `index` names along `dim` is reduced with
/// the elements of `source` that go there; without `include_self` what stood there counts for
/// nothing. `reduce` is sum, prod, mean, amax or amin. prod has no gradient here: it throws
/// std::invalid_argument. Errors: std::invalid_argument naming op and shapes.
Tensor scatter_reduce(const Tensor& input, std::int64_t dim, const Tensor& index,
                      const Tensor& source, const std::string& reduce, bool include_self);

std::vector<OpDef> scatter_reduce_ops();

}  // namespace ohm::ops
