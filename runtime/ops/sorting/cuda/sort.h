// Sorts on a CUDA device: short rows by rank, longer ones by tiles and merges, the longest digit by
// digit.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/base/rows.h"
#include "runtime/kernels/functors/row_launch.h"
#include "runtime/kernels/functors/sorting.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// Rows in this order, row by row: their elements, halves as float32 and whole numbers as float64,
/// and where in its row each of them was. They lie in the device's scratch, until that is asked for
/// again.
struct SortedRows {
  RowOperand elements;
  RowOperand places;
};

/// nullopt where the input is not a row-major one on a CUDA device, or that has no memory to spare.
std::optional<SortedRows> sorted_on_cuda(const Tensor& input, const Rows& rows,
                                         const functors::Ordering& precedes);

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
