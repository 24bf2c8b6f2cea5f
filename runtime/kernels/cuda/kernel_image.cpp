// What nvcc made, as it is: an image for each of the files it was made of.
#include "runtime/kernels/cuda/kernel_module.h"

#define OHM_IMAGE(name, path)                        \
  __asm__(                                           \
      ".pushsection .rodata\n"                       \
      ".balign 16\n"                                 \
      "ohm_" #name                                   \
      "_image_begin:\n"                              \
      ".incbin \"" path                              \
      "\"\n"                                         \
      "ohm_" #name                                   \
      "_image_end:\n"                                \
      ".popsection\n");                              \
  extern "C" {                                       \
  extern const std::byte ohm_##name##_image_begin[]; \
  extern const std::byte ohm_##name##_image_end[];   \
  }

OHM_IMAGE(attention, OHM_KERNEL_FOLDER "/attention.fatbin")
OHM_IMAGE(reduce_rows, OHM_KERNEL_FOLDER "/reduce_rows.fatbin")
OHM_IMAGE(general_elementwise, OHM_KERNEL_FOLDER "/general_elementwise.fatbin")
OHM_IMAGE(rows, OHM_KERNEL_FOLDER "/rows.fatbin")
OHM_IMAGE(elementwise, OHM_KERNEL_FOLDER "/elementwise.fatbin")
OHM_IMAGE(gather_scatter, OHM_KERNEL_FOLDER "/gather_scatter.fatbin")
OHM_IMAGE(pooling, OHM_KERNEL_FOLDER "/pooling.fatbin")
OHM_IMAGE(sorting, OHM_KERNEL_FOLDER "/sorting.fatbin")
OHM_IMAGE(update, OHM_KERNEL_FOLDER "/update.fatbin")

namespace ohm::kernels {

std::vector<std::span<const std::byte>> kernel_images() {
  return {{ohm_attention_image_begin, ohm_attention_image_end},
          {ohm_reduce_rows_image_begin, ohm_reduce_rows_image_end},
          {ohm_general_elementwise_image_begin, ohm_general_elementwise_image_end},
          {ohm_rows_image_begin, ohm_rows_image_end},
          {ohm_elementwise_image_begin, ohm_elementwise_image_end},
          {ohm_gather_scatter_image_begin, ohm_gather_scatter_image_end},
          {ohm_pooling_image_begin, ohm_pooling_image_end},
          {ohm_sorting_image_begin, ohm_sorting_image_end},
          {ohm_update_image_begin, ohm_update_image_end}};
}

}  // namespace ohm::kernels
