#include "allocator_shim/device/cuda/card_libraries.h"

namespace ohm::cuda {

std::vector<LibraryState> CardLibraries::states() {
  std::vector<LibraryState> states;
  const auto add = [&](const auto* library, const auto& place) {
    using Library = std::decay_t<decltype(*library)>;
    states.push_back({Library::kName, library == nullptr ? "" : library->version(), place.missing});
  };
  add(cublas(), cublas_);
  add(cublaslt(), cublaslt_);
  add(cudnn(), cudnn_);
  return states;
}

}  // namespace ohm::cuda
