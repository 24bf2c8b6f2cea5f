// A run on real cards: what it is asked for.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "allocator_shim/device/cuda/library_places.h"

namespace ohm::engine {

/// Where NVIDIA's libraries are: names that the loader looks up, or paths.
struct CudaLibraries {
  std::string driver = "libcuda.so.1";
  std::string nvml = "libnvidia-ml.so.1";
  cuda::LibraryPlaces math;
};

/// The scenarios' GPUs are shares of real cards.
struct CudaRun {
  CudaLibraries libraries;
  std::optional<std::size_t> limit_bytes;  ///< of each GPU, instead of its own capacity
};

}  // namespace ohm::engine
