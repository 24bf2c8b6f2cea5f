// Convolutions on a CUDA device, by cuDNN.
#pragma once

#include "runtime/ops/convolution/host/convolution.h"
#include "runtime/ops/cuda/cuda_result.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {

// As conv_forward and its gradients (host/convolution.h), where everything is on a CUDA device with
// cuDNN: else `no`, and nothing was done. As in PyTorch it is computed in the first way that the
// library suggests for whose workspace there is memory; the workspace is allocated like everything
// else, and freed on return. It is bounded by the slot's cudnn_workspace_bytes: where no way is
// content with that, the one that needs least is taken. A virtual GPU takes the workspaces that
// were measured on a card, where its profile has them, and none otherwise. In benchmark mode the
// first call for a convolution tries all that there is memory for, in a workspace that is allocated
// and freed, and then empties the caching allocators' caches, as PyTorch does; on a virtual GPU it
// does the latter. All throw OutOfMemory, cuda::LibraryError.

CudaResult convolve_on_cuda(const ConvGeometry& geometry, const Tensor& input, const Tensor& weight,
                            const Tensor& bias, const Tensor& out);
CudaResult convolve_grad_input_on_cuda(const ConvGeometry& geometry, const Tensor& grad_out,
                                       const Tensor& weight, const Tensor& grad_input);
CudaResult convolve_grad_weight_on_cuda(const ConvGeometry& geometry, const Tensor& grad_out,
                                        const Tensor& input, const Tensor& grad_weight);

/// Where nothing was measured a virtual GPU's convolutions take no workspace.
inline void assume_no_workspace(DeviceSlot& slot) {
  if (slot.convolution_workspaces == nullptr) slot.assumptions.add(Assumption::cudnn_workspace);
}

}  // namespace ohm::ops
