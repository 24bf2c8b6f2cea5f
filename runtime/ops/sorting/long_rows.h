// Rows that are too long for the kernel that sorts each in place: the GPU's library sorts them.
#pragma once

#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// Whether rows of this size along `dim` go to the library; one on the host never does.
bool has_long_rows(const Tensor& input, int dim);

/// Takes and gives back what sorting along `dim` needs beside its results: copies laid out with
/// `dim` last where the tensors are not, places, and the library's scratch. A few rows are one
/// sort by element and one by row, many are sorted as segments, and from a million elements a row
/// on one after the other. Pre-condition: has_long_rows().
void take_scratch_of_long_rows(const Tensor& input, int dim, const Tensor& values,
                               const Tensor& indices);

}  // namespace ohm::ops
