// Convolutions on a CUDA device, by cuDNN.
#pragma once

#include "runtime/ops/cuda/cuda_result.h"
#include "runtime/ops/host/convolution.h"

namespace ohm::ops {

// As conv_forward and its gradients (conv_kernel.h), where everything is on a CUDA device with
// cuDNN: else `no`, and nothing was done. The library is asked for what needs no workspace, as
// PyTorch's is taken to need none; where it has nothing of the kind, the workspace is allocated
// like everything else, and freed on return. In benchmark mode the first call for a convolution
// tries all that there is memory for, in a workspace that is allocated and freed, and then empties
// the caching allocators' caches, as PyTorch does; on a virtual GPU, whose convolutions take no
// workspace, it does the latter. All throw OutOfMemory, cuda::LibraryError.

CudaResult convolve_on_cuda(const ConvGeometry& geometry, const Tensor& input, const Tensor& weight,
                            const Tensor& bias, const Tensor& out);
CudaResult convolve_grad_input_on_cuda(const ConvGeometry& geometry, const Tensor& grad_out,
                                       const Tensor& weight, const Tensor& grad_input);
CudaResult convolve_grad_weight_on_cuda(const ConvGeometry& geometry, const Tensor& grad_out,
                                        const Tensor& input, const Tensor& grad_weight);

}  // namespace ohm::ops
