// Matrix products on a real card, by cuBLAS and cuBLASLt.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/ops/cuda/cuda_result.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// The matrix, or one of a batch, as libraries read it: rows next to each other or columns.
struct MatrixLayout2d {
  std::int64_t leading_dimension = 1;
  bool is_transposed = false;  ///< the columns are next to each other
};

/// How libraries can read the last two dimensions; nullopt: they cannot.
std::optional<MatrixLayout2d> library_layout(const Tensor& matrix);

/// out = a · b, or out += a · b, of matrices or of batches of them, in `workspace` (null: the
/// library's own). `no`, and nothing was done, where they are not all on a card with cuBLAS, or
/// laid out otherwise. Throws OutOfMemory, cuda::LibraryError.
OnCard multiply_on_card(const Tensor& a, const Tensor& b, const Tensor& out, bool adds_to_out,
                        const Storage* workspace);

/// out = a · b + bias with one element of the bias for each column, by cuBLASLt.
OnCard multiply_with_bias_on_card(const Tensor& bias, const Tensor& a, const Tensor& b,
                                  const Tensor& out, const Storage* workspace);

}  // namespace ohm::ops
