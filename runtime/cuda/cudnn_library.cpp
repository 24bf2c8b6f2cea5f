#include "runtime/cuda/cudnn_library.h"

#include <fmt/format.h>

namespace ohm::cuda {

CudnnFunctions CudnnApi::functions_of(const SharedLibrary& library) {
  CudnnFunctions functions;
#define OHM_ROW(member, symbol, ...) library.find(#symbol, functions.member);
  OHM_FOR_EACH_CUDNN_FUNCTION(OHM_ROW)
#undef OHM_ROW
  library.find(kCudnnStatusName, functions.status_name);
  library.find(kCudnnVersion, functions.version);
  return functions;
}

/// Version 9 has other numbers than version 8, and several for one kind.
LibraryFailure CudnnApi::failure_of(CudnnStatus status) {
  constexpr CudnnStatus kFirstOf9 = 1000;
  if (status < kFirstOf9) {
    if (status == kCudnn8AllocFailed) return LibraryFailure::out_of_memory;
    return status == kCudnn8NotSupported ? LibraryFailure::not_supported : LibraryFailure::other;
  }
  if (status == kCudnn9HostAllocFailed || status == kCudnn9DeviceAllocFailed) {
    return LibraryFailure::out_of_memory;
  }
  return status / 1000 == kCudnn9NotSupported / 1000 ? LibraryFailure::not_supported
                                                     : LibraryFailure::other;
}

int cudnn_type(ElementType type) {
  switch (type) {
    case ElementType::float16:
      return kCudnnHalf;
    case ElementType::bfloat16:
      return kCudnnBFloat16;
    case ElementType::float32:
      return kCudnnFloat;
    case ElementType::float64:
      return kCudnnDouble;
  }
  return kCudnnFloat;
}

std::string CudnnLibrary::version() const {
  const std::size_t version = functions_.version();
  constexpr std::size_t kMajorSince9 = 10'000;
  const std::size_t major = version < kMajorSince9 ? 1000 : kMajorSince9;
  return fmt::format("{}.{}.{}", version / major, version % major / 100, version % 100);
}

CudnnLibrary::Tensor CudnnLibrary::tensor(ElementType type, const ImageSizes& sizes) const {
  CudnnTensor made = nullptr;
  check(functions_.tensor_create(&made), "cudnnCreateTensorDescriptor");
  Tensor tensor(made, functions_.tensor_destroy);
  check(functions_.tensor_set(made, kCudnnRowMajor, cudnn_type(type), sizes[0], sizes[1], sizes[2],
                              sizes[3]),
        "cudnnSetTensor4dDescriptor");
  return tensor;
}

}  // namespace ohm::cuda
