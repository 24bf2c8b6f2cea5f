// What a build without a CUDA toolkit has instead of kernels.
#include "runtime/kernels/cuda/kernel_build.h"

namespace ohm::kernels {

KernelBuild kernel_build() { return {}; }

}  // namespace ohm::kernels
