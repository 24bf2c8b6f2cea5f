// Fused attention on a CUDA device, by cuBLAS's products: a tile of all scores at a time.
#pragma once

#include "runtime/kernels/functors/attention.h"
#include "runtime/ops/attention/host/attention.h"
#include "runtime/ops/cuda/cuda_result.h"

namespace ohm::ops {

/// What both are given: steps and rules of the call, whose `result` are the steps through the
/// result or its gradient.
struct AttentionCall {
  const AttentionInputs& inputs;
  functors::AttentionLayout layout;
};

// `no`, and nothing was done, where not all of it is on one device with kernels and cuBLAS, or that
// has no memory to spare. Beside it, scratch of the device that no allocator counts.

CudaResult multiply_attention(const AttentionCall& call, const Tensor& out,
                              const Tensor& logsumexp);

/// `gradients` are overwritten; that of the bias may be undefined.
CudaResult multiply_attention_gradients(const AttentionCall& call, const Tensor& grad,
                                        const AttentionInputs& gradients, const Tensor& logsumexp);

}  // namespace ohm::ops
