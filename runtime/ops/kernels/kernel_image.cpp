// What nvcc made, as it is.
#include "runtime/ops/kernels/kernel_module.h"

__asm__(
    ".pushsection .rodata\n"
    ".balign 16\n"
    "ohm_kernel_image_begin:\n"
    ".incbin \"" OHM_KERNEL_IMAGE
    "\"\n"
    "ohm_kernel_image_end:\n"
    ".popsection\n");

namespace ohm::ops::kernels {
namespace {

extern "C" {
extern const std::byte kImageBegin[] __asm__("ohm_kernel_image_begin");
extern const std::byte kImageEnd[] __asm__("ohm_kernel_image_end");
}

}  // namespace

std::span<const std::byte> kernel_image() { return {kImageBegin, kImageEnd}; }

}  // namespace ohm::ops::kernels
