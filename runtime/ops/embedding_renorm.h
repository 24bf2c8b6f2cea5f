// Rows of a table that are not to be longer than a bound.
#pragma once

#include "runtime/tensor/tensor.h"

namespace ohm::ops {

struct RowBound {
  double max_norm;
  double norm_type;  ///< p of the norm
};

/// Shortens the rows of `weight` that `input` names to the bound, in place and outside of any
/// graph. The GPU sorts the indices and picks each one once. Throws std::invalid_argument where
/// they are no indices of a table.
void renorm_rows(const Tensor& weight, const Tensor& input, const RowBound& bound);

}  // namespace ohm::ops
