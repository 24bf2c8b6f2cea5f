// Calls of NVIDIA's libraries on what lies on a CUDA device.
#pragma once

#include <initializer_list>
#include <utility>

#include "runtime/cuda/device_libraries.h"
#include "runtime/ops/cuda/cuda_result.h"
#include "runtime/tensor/cuda_backend.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// The libraries of the device that all of them are on, of one floating dtype; nullptr where some
/// have no values or are elsewhere. Undefined tensors do not count.
cuda::DeviceLibraries* libraries_for(std::initializer_list<const Tensor*> tensors);

/// Pre-condition: a floating dtype.
cuda::ElementType element_type(DType dtype);

/// Where the tensor's first element is, to be read or to be written over as a whole. Pre-condition:
/// it is on a CUDA device.
inline cuda::Pointer read_on_cuda(const Tensor& tensor) {
  return tensor.cuda_address(CudaAccess::read);
}
cuda::Pointer overwrite_on_cuda(const Tensor& tensor);

/// While `error` is handled: throws what the program has to see, OutOfMemory where it is one,
/// `error` itself where it is not.
[[noreturn]] void rethrow_on(Device device, const cuda::LibraryError& error);

/// Makes a call of a library whose results are on `device`; `no` where it says that it does not
/// support it. Throws OutOfMemory where the library found no memory, cuda::LibraryError in its
/// words where it failed otherwise.
template <class Call>
CudaResult call_library(Device device, Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (const cuda::LibraryError& error) {
    if (error.failure() == cuda::LibraryFailure::not_supported) return CudaResult::no;
    rethrow_on(device, error);
  }
}

}  // namespace ohm::ops
