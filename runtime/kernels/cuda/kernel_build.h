// The kernels of a build: what nvcc made of each source, and for which devices and drivers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/kernels/functors/functor_list.h"

namespace ohm::kernels {

/// Machine code of one source for the architectures of the build, as the driver loads it (a
/// fatbin).
struct KernelImage {
  std::span<const std::byte> code;
  std::span<const std::string_view> functors;  ///< that it has kernels of
};

struct KernelBuild {
  std::vector<KernelImage> images;  ///< none in a build without a CUDA toolkit
  int toolkit_version = 0;          ///< CUDA's, as cuDriverGetVersion spells it: 13000
  std::vector<int> architectures;   ///< compute capabilities that it has machine code for: 80, 90

  /// Whether the driver has nothing to compile when it loads the images for this capability:
  /// machine code runs on later devices of the same generation.
  bool has_machine_code_for(std::array<int, 2> capability) const {
    return std::any_of(architectures.begin(), architectures.end(), [&](int architecture) {
      return architecture / 10 == capability[0] && architecture % 10 <= capability[1];
    });
  }
};

/// That of this program. Defined by the source that the build links: the images that nvcc made,
/// none, or what stands in for them in tests.
KernelBuild kernel_build();

/// ROW(source, its functors): the sources of kernels, which nvcc compiles side by side. The only
/// list of what is in which, but for the sources themselves.
#define OHM_FOR_EACH_KERNEL_SOURCE(ROW, NAME)                                                      \
  ROW(attention, OHM_FOR_EACH_ATTENTION_ROW(NAME))                                                 \
  ROW(elementwise, OHM_FOR_EACH_MATH_FUNCTOR(NAME) OHM_FOR_EACH_SPECIAL_FUNCTOR(NAME))             \
  ROW(gather_scatter, OHM_FOR_EACH_GATHER_SCATTER_ROW(NAME))                                       \
  ROW(general_elementwise, OHM_FOR_EACH_GENERAL_FUNCTOR(NAME) OHM_FOR_EACH_GENERATOR(NAME))        \
  ROW(pooling, OHM_FOR_EACH_POOLING_ROW(NAME))                                                     \
  ROW(reduce_rows, OHM_FOR_EACH_REDUCTION_ROW(NAME))                                               \
  ROW(rows, OHM_FOR_EACH_FLOATING_ROW(NAME) OHM_FOR_EACH_GENERAL_ROW(NAME))                        \
  ROW(sorting,                                                                                     \
      OHM_FOR_EACH_SORTED_TILE(NAME) OHM_FOR_EACH_DIGIT_TILE(NAME) OHM_FOR_EACH_SORTING_ROW(NAME)) \
  ROW(update, OHM_FOR_EACH_PIECEWISE_FUNCTOR(NAME) OHM_FOR_EACH_UPDATE_FUNCTOR(NAME))

/// The functors of each source: functors_of::attention.
namespace functors_of {
#define OHM_FUNCTOR_NAME(name, ...) std::string_view(#name),
#define OHM_FUNCTOR_NAMES(source, names) inline constexpr std::string_view source[] = {names};
OHM_FOR_EACH_KERNEL_SOURCE(OHM_FUNCTOR_NAMES, OHM_FUNCTOR_NAME)
#undef OHM_FUNCTOR_NAMES
#undef OHM_FUNCTOR_NAME
}  // namespace functors_of

}  // namespace ohm::kernels
