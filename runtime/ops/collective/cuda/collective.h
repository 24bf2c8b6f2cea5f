// Collectives between CUDA devices, by NCCL.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/ops/cuda/cuda_result.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

// One tensor of each rank. `no`, and nothing was done, where they are not of one dtype and number
// of elements, each dense, or not on as many different devices with NCCL between them. All throw
// cuda::LibraryError.

/// Each tensor becomes the sum of all.
CudaResult all_reduce_by_nccl(const std::vector<Tensor>& tensors);
/// Each tensor becomes that of rank `source`.
CudaResult broadcast_by_nccl(const std::vector<Tensor>& tensors, std::size_t source);
/// `sum`, which is on the device of the tensor of rank `target`, becomes the sum of all.
CudaResult reduce_by_nccl(const std::vector<Tensor>& tensors, const Tensor& sum,
                          std::size_t target);
/// Each buffer becomes all tensors, one behind the other.
CudaResult all_gather_by_nccl(const std::vector<Tensor>& tensors,
                              const std::vector<Tensor>& buffers);
/// Tensor i becomes piece i of the sum of all buffers.
CudaResult reduce_scatter_by_nccl(const std::vector<Tensor>& buffers,
                                  const std::vector<Tensor>& tensors);

}  // namespace ohm::ops
