#include "runtime/cuda/device_libraries.h"

namespace ohm::cuda {

namespace {

/// What `open` returns, or why it does not.
template <class Open>
LibraryState state_of(const char* name, const std::string& missing, Open&& open) {
  try {
    const auto* const library = open();
    return {name, library == nullptr ? "" : library->version(), missing};
  } catch (const LibraryError& error) {
    return {name, "", error.what()};
  }
}

}  // namespace

std::vector<LibraryState> DeviceLibraries::states() {
  return {state_of(Cublas::kName, cublas_.missing, [this] { return cublas(); }),
          state_of(CublasLt::kName, cublaslt_.missing, [this] { return cublaslt(); }),
          state_of(Cudnn::kName, cudnn_.missing, [this] { return cudnn(); })};
}

}  // namespace ohm::cuda
