// Batch norm on a CUDA device, by cuDNN.
#pragma once

#include "runtime/ops/cuda/cuda_result.h"
#include "runtime/ops/host/layer_gradients.h"

namespace ohm::ops {

/// A batch norm that PyTorch gives to cuDNN. The input is [N, C, …] and row-major; what is not
/// needed is undefined.
struct CudaBatchNorm {
  Tensor input;
  Tensor weight;
  Tensor bias;
  Tensor running_mean;
  Tensor running_var;
  double eps = 1e-5;
};

// `no`, and nothing was done, where everything is not on a CUDA device with cuDNN, in the dtypes
// that it wants. All throw OutOfMemory, cuda::LibraryError.

/// Fills `out`, `mean` and `invstd` with what the input gives; moves running statistics by
/// `momentum` where there are any.
CudaResult train_batch_norm_on_cuda(const CudaBatchNorm& norm, double momentum, const Tensor& out,
                                    const Tensor& mean, const Tensor& invstd);
/// Fills `out` by the running statistics.
CudaResult apply_batch_norm_on_cuda(const CudaBatchNorm& norm, const Tensor& out);

/// Fills the three, of which none is missing, where the statistics were the input's.
CudaResult batch_norm_gradients_on_cuda(const CudaBatchNorm& norm, const Tensor& grad,
                                        const Tensor& mean, const Tensor& invstd,
                                        const LayerGradients& out);

}  // namespace ohm::ops
