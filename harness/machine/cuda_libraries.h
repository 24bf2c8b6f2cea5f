// The places of NVIDIA's libraries, for a run on real cards.
#pragma once

#include <string>

#include "runtime/cuda/library_places.h"

namespace ohm::engine {

/// Where NVIDIA's libraries are: names that the loader looks up, or paths.
struct CudaLibraries {
  std::string driver = "libcuda.so.1";
  std::string nvml = "libnvidia-ml.so.1";
  cuda::LibraryPlaces math;
};

}  // namespace ohm::engine
