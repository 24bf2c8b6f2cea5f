#include "allocator_shim/device/cuda/library.h"

#include <fmt/format.h>

#include "allocator_shim/observe/assert.h"

namespace ohm::cuda {

std::unique_ptr<SharedLibrary> open_first(const LibraryNames& names, std::string_view what) {
  OHM_ASSERT(!names.empty(), "a library has a name");
  std::string reason;
  for (const std::string& name : names) {
    try {
      return std::make_unique<SharedLibrary>(name, what);
    } catch (const GpuUnavailable& missing) {
      if (reason.empty()) reason = missing.what();
    }
  }
  throw GpuUnavailable(reason);
}

void fail_library(const Card& card, LibraryFailure failure, std::string_view library,
                  std::string_view call, const char* words) {
  if (failure == LibraryFailure::other) card.synchronize();
  throw LibraryError(failure, fmt::format("{}: {}: {}", library, call,
                                          words == nullptr ? "an error without a name" : words));
}

}  // namespace ohm::cuda
