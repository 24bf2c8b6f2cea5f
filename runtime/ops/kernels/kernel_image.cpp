// What nvcc made, as bytes: bin2c writes them.
#include <pointwise_image.inc>
#include <span>

#include "runtime/ops/kernels/kernel_module.h"

namespace ohm::ops::kernels {

std::span<const std::byte> kernel_image() { return std::as_bytes(std::span(kPointwiseImage)); }

}  // namespace ohm::ops::kernels
