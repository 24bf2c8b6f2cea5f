// Rows of a table that are not to be longer than a bound.
#pragma once

#include "runtime/tensor/tensor.h"

namespace ohm::ops {

struct RowBound {
  double max_norm;
  double norm_type;  ///< p of the norm
};

/// What the GPU takes to sort row-major indices and to pick each one once.
void take_distinct_scratch(const Tensor& indices);
/// Shortens the rows of `weight` that the indices name to the bound, in place and outside of any
/// graph. Takes no memory of a device. What is not a place of the table is left out.
void shorten_rows(const Tensor& weight, const Tensor& indices, const RowBound& bound);

}  // namespace ohm::ops
