// Matrix products on raw tensors: no graph, no autocast. Values by OpenBLAS.
#pragma once

#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// a [m, k] · b [k, n] in a new row-major tensor [m, n]. An operand that the library cannot read
/// (rows and columns both strided, or repeated) is copied to a temporary first. Same dtype and
/// device for both: checked by the callers.
Tensor raw_mm(const Tensor& a, const Tensor& b);

/// a [batch, m, k] · b [batch, k, n] in a new row-major tensor [batch, m, n].
Tensor raw_bmm(const Tensor& a, const Tensor& b);

/// bias + a · b: bias broadcasts to [m, n]. A one-dimensional bias of n > 1 columns with k > 1
/// goes through cuBLASLt and its temporary workspace.
Tensor raw_addmm(const Tensor& bias, const Tensor& a, const Tensor& b);

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

}  // namespace ohm::ops
