// What nvcc made, as it is: an image for each of its sources.
#include "runtime/kernels/cuda/kernel_build.h"

#define OHM_NOTHING(...)
#define OHM_IMAGE(source, functors)                    \
  __asm__(                                             \
      ".pushsection .rodata\n"                         \
      ".balign 16\n"                                   \
      "ohm_" #source                                   \
      "_image_begin:\n"                                \
      ".incbin \"" OHM_KERNEL_FOLDER "/" #source       \
      ".fatbin\"\n"                                    \
      "ohm_" #source                                   \
      "_image_end:\n"                                  \
      ".popsection\n");                                \
  extern "C" {                                         \
  extern const std::byte ohm_##source##_image_begin[]; \
  extern const std::byte ohm_##source##_image_end[];   \
  }
OHM_FOR_EACH_KERNEL_SOURCE(OHM_IMAGE, OHM_NOTHING)
#undef OHM_IMAGE

namespace ohm::kernels {

KernelBuild kernel_build() {
#define OHM_IMAGE(source, functors) \
  {{ohm_##source##_image_begin, ohm_##source##_image_end}, functors_of::source},
  return {{OHM_FOR_EACH_KERNEL_SOURCE(OHM_IMAGE, OHM_NOTHING)},
          OHM_KERNEL_TOOLKIT_VERSION,
          {OHM_KERNEL_ARCHITECTURES}};
#undef OHM_IMAGE
}

}  // namespace ohm::kernels
