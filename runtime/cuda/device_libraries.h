// NVIDIA's libraries of mathematics on one device, each opened when it is first wanted: a program
// that multiplies nothing pays for none. One that is missing is a reason, not an error: what
// wants it does without.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cuda/cublas.h"
#include "runtime/cuda/cublaslt.h"
#include "runtime/cuda/cudnn.h"

namespace ohm::cuda {

/// What came of opening one.
struct LibraryState {
  std::string name;     ///< "cuBLAS"
  std::string version;  ///< empty where it is missing
  std::string missing;  ///< why, or why it does not start; empty where it is there
};

class DeviceLibraries {
 public:
  DeviceLibraries(std::shared_ptr<const CudaDevice> device, LibraryPlaces places)
      : device_(std::move(device)), places_(std::move(places)) {}

  /// nullptr where it is missing. Throws LibraryError where it is there and does not start: the
  /// next call tries again.
  const Cublas* cublas() { return opened(cublas_, places_.cublas); }
  const CublasLt* cublaslt() { return opened(cublaslt_, places_.cublaslt); }
  const Cudnn* cudnn() { return opened(cudnn_, places_.cudnn); }

  /// Opens all of them. Throws DriverError where the device broke.
  std::vector<LibraryState> states();

 private:
  template <class Library>
  struct Opened {
    std::unique_ptr<const Library> library;
    std::string missing;
  };

  template <class Library>
  const Library* opened(Opened<Library>& place, const LibraryNames& names) {
    if (place.library || !place.missing.empty()) return place.library.get();
    try {
      place.library = std::make_unique<const Library>(device_, names);
    } catch (const GpuUnavailable& missing) {
      place.missing = missing.what();
    }
    return place.library.get();
  }

  std::shared_ptr<const CudaDevice> device_;
  LibraryPlaces places_;
  Opened<Cublas> cublas_;
  Opened<CublasLt> cublaslt_;
  Opened<Cudnn> cudnn_;
};

}  // namespace ohm::cuda
