// Sorts on a CUDA device: short rows by rank, long ones by tiles and merges.
#pragma once

#include <cstdint>

#include "runtime/base/rows.h"
#include "runtime/kernels/functors/sorting.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// The first `picked` of each row in this order, equal ones as they came, and their places.
struct RowSort {
  const Tensor& input;
  const Rows& rows;
  functors::Ordering precedes;
  std::int64_t picked;
  const Tensor& values;  ///< row-major, as the input but for `picked` elements along the rows
  const Tensor& places;
};

/// False, and nothing was done, where they are not on a CUDA device, or it has no memory to spare.
bool is_sorted_on_cuda(const RowSort& sort);

}  // namespace ohm::ops
