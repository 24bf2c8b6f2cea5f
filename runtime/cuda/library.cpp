#include "runtime/cuda/library.h"

#include <fmt/format.h>

namespace ohm::cuda {

void fail_library(const CudaDevice& device, LibraryFailure failure, std::string_view library,
                  std::string_view call, const char* words) {
  if (failure == LibraryFailure::other) device.synchronize();
  throw LibraryError(failure, fmt::format("{}: {}: {}", library, call,
                                          words == nullptr ? "an error without a name" : words));
}

}  // namespace ohm::cuda
