// Matrix products on the host, by OpenBLAS.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// The matrix, or one of a batch, as libraries read it: rows next to each other or columns.
struct MatrixLayout2d {
  std::int64_t leading_dimension = 1;
  bool is_transposed = false;  ///< the columns are next to each other
};

/// How libraries can read the last two dimensions; nullopt: they cannot.
std::optional<MatrixLayout2d> library_layout(const Tensor& matrix);

/// One matrix for a library call: values with a leading dimension, transposed or not.
template <class T>
struct Matrix {
  const T* values = nullptr;
  std::int64_t leading_dimension = 1;
  bool is_transposed = false;
};

/// result [m, n] = a · b + beta · result on the host; the rows of the result are `row_stride`
/// apart.
void host_gemm(std::int64_t m, std::int64_t n, std::int64_t k, const Matrix<float>& a,
               const Matrix<float>& b, float beta, float* result, std::int64_t row_stride);
void host_gemm(std::int64_t m, std::int64_t n, std::int64_t k, const Matrix<double>& a,
               const Matrix<double>& b, double beta, double* result, std::int64_t row_stride);

/// out = a · b, or out += a · b, of matrices or of batches of them, which have values.
/// Pre-condition: library_layout() of both, `out` row-major, an inner dimension of at least 1.
void host_matrix_product(const Tensor& a, const Tensor& b, const Tensor& out, bool adds_to_out);

}  // namespace ohm::ops
