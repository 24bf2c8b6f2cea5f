// The truth check of numbers: every kernel of a real card against its twin on the host.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/machine/cuda_libraries.h"

namespace ohm::engine {

struct KernelVerification {
  std::string kernel;  ///< "relu_slope float32"
  std::size_t values = 0;
  std::size_t different = 0;  ///< further apart than the dtype's tolerance
  double largest_error = 0;   ///< |card − host| / (|host| + 1), of the finite ones
};

struct KernelVerifications {
  std::vector<KernelVerification> kernels;
  std::string error;  ///< why there are no more; empty: all were compared

  bool agree() const;
};

/// Runs the kernels on the first card, in a process of its own. Nothing to compare in a build
/// without kernels.
KernelVerifications verify_kernels(const CudaLibraries& libraries);

}  // namespace ohm::engine
