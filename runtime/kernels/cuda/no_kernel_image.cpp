// What a build without a CUDA toolkit has instead of kernels.
#include "runtime/kernels/cuda/kernel_module.h"

namespace ohm::kernels {

std::vector<std::span<const std::byte>> kernel_images() { return {}; }

}  // namespace ohm::kernels
