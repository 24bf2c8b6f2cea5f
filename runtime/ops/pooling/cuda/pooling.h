// Averages over windows of images on a CUDA device, by cuDNN.
#pragma once

#include <cstdint>

#include "runtime/ops/cuda/cuda_result.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// Windows along one dimension, all of which end inside the padded image.
struct CudaWindows {
  std::int64_t size = 1;
  std::int64_t padding = 0;
  std::int64_t stride = 1;
};

/// Row-major images, `planes` of them.
struct CudaAverage {
  std::int64_t planes = 0;
  CudaWindows rows;
  CudaWindows columns;
  bool counts_padding = true;
};

/// out = averages of the input. `no`, and nothing was done, where they are not on a CUDA device
/// with cuDNN. Throws OutOfMemory, cuda::LibraryError.
CudaResult average_on_cuda(const CudaAverage& average, const Tensor& input, const Tensor& out);
/// The gradient of that by its input.
CudaResult average_gradient_on_cuda(const CudaAverage& average, const Tensor& grad,
                                    const Tensor& grad_input);

}  // namespace ohm::ops
