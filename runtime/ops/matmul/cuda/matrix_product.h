// Matrix products on a CUDA device, by cuBLAS and cuBLASLt.
#pragma once

#include "runtime/ops/cuda/cuda_result.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// out = a · b, or out += a · b, of matrices or of batches of them, in `workspace` (null: the
/// library's own). `no`, and nothing was done, where they are not all on a CUDA device with cuBLAS,
/// or laid out otherwise. Throws OutOfMemory, cuda::LibraryError.
CudaResult multiply_on_cuda(const Tensor& a, const Tensor& b, const Tensor& out, bool adds_to_out,
                            const Storage* workspace);

/// out = a · b + bias with one element of the bias for each column, by cuBLASLt.
CudaResult multiply_with_bias_on_cuda(const Tensor& bias, const Tensor& a, const Tensor& b,
                                      const Tensor& out, const Storage* workspace);

}  // namespace ohm::ops
