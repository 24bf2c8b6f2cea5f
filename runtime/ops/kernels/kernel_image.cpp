// What nvcc made, as it is: an image for each of the files it was made of.
#include "runtime/ops/kernels/kernel_module.h"

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
OHM_IMAGE(fold_lines, OHM_KERNEL_FOLDER "/fold_lines.fatbin")
OHM_IMAGE(general_loops, OHM_KERNEL_FOLDER "/general_loops.fatbin")
OHM_IMAGE(lines, OHM_KERNEL_FOLDER "/lines.fatbin")
OHM_IMAGE(loops, OHM_KERNEL_FOLDER "/loops.fatbin")
OHM_IMAGE(move_lines, OHM_KERNEL_FOLDER "/move_lines.fatbin")
OHM_IMAGE(pooling, OHM_KERNEL_FOLDER "/pooling.fatbin")
OHM_IMAGE(sorting, OHM_KERNEL_FOLDER "/sorting.fatbin")
OHM_IMAGE(update_loops, OHM_KERNEL_FOLDER "/update_loops.fatbin")

namespace ohm::ops::kernels {

std::vector<std::span<const std::byte>> kernel_images() {
  return {{ohm_attention_image_begin, ohm_attention_image_end},
          {ohm_fold_lines_image_begin, ohm_fold_lines_image_end},
          {ohm_general_loops_image_begin, ohm_general_loops_image_end},
          {ohm_lines_image_begin, ohm_lines_image_end},
          {ohm_loops_image_begin, ohm_loops_image_end},
          {ohm_move_lines_image_begin, ohm_move_lines_image_end},
          {ohm_pooling_image_begin, ohm_pooling_image_end},
          {ohm_sorting_image_begin, ohm_sorting_image_end},
          {ohm_update_loops_image_begin, ohm_update_loops_image_end}};
}

}  // namespace ohm::ops::kernels
