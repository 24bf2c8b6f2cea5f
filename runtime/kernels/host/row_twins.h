// What the kernels of lines have to compute: the same formulas with a team of one, the host.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/kernels/cuda/kernel_module.h"
#include "runtime/kernels/functors/functor_list.h"
#include "runtime/kernels/functors/row_launch.h"
#include "runtime/kernels/host/host_team.h"
#include "runtime/kernels/host/verified.h"

namespace ohm::ops::kernels {

/// See LoopKernel.
struct LineKernel {
  std::string_view formula;
  DType dtype = DType::float32;
  int indices = -1;  ///< the operand that holds numbers of lines; -1: none
  const void* parameters = nullptr;
  void (*twin)(const CardLines& lines, const void* parameters) = nullptr;

  std::string symbol() const { return kernel_symbol(formula, dtype); }
};

namespace detail {

template <class Formula, class Compute>
void line_twin(const CardLines& lines, const void* parameters) {
  const auto& formula = *static_cast<const Formula*>(parameters);
  for (std::uint64_t line = 0; line < lines.count; ++line) {
    formula.template run<Compute>(HostTeam(), lines, line);
  }
}

}  // namespace detail

/// Every kernel, in the order of the list.
inline std::vector<LineKernel> line_kernels() {
  std::vector<LineKernel> all;
#define OHM_KERNEL(name, Formula, indices, type, Compute, ...)                                \
  static_assert(std::string_view(formulas::Formula::kKernel) == #name);                       \
  all.push_back({#name, DType::type, indices, Verified<formulas::Formula>::with(__VA_ARGS__), \
                 detail::line_twin<formulas::Formula, Compute>});
#define OHM_ROW(name, Formula, indices, ...)                                    \
  OHM_KERNEL(name, Formula, indices, float32, float __VA_OPT__(, ) __VA_ARGS__) \
  OHM_KERNEL(name, Formula, indices, float64, double __VA_OPT__(, ) __VA_ARGS__)
  OHM_FOR_EACH_FLOATING_LINE(OHM_ROW)
  OHM_FOR_EACH_FOLD_LINE(OHM_ROW)
  OHM_FOR_EACH_MOVE_LINE(OHM_ROW)
  OHM_FOR_EACH_POOLING_LINE(OHM_ROW)
  OHM_FOR_EACH_SORTED_TILE(OHM_ROW)
  OHM_FOR_EACH_SORTING_LINE(OHM_ROW)
  OHM_FOR_EACH_GENERAL_LINE(OHM_ROW)
#undef OHM_ROW
#define OHM_ROW(name, Formula, indices, ...) \
  OHM_KERNEL(name, Formula, indices, float32, float __VA_OPT__(, ) __VA_ARGS__)
  OHM_FOR_EACH_ATTENTION_LINE(OHM_ROW)
#undef OHM_ROW
#define OHM_ROW(name, Formula, indices, ...) \
  OHM_KERNEL(name, Formula, indices, int64, std::int64_t __VA_OPT__(, ) __VA_ARGS__)
  OHM_FOR_EACH_MOVE_LINE(OHM_ROW)
  OHM_FOR_EACH_GENERAL_LINE(OHM_ROW)
#undef OHM_ROW
#undef OHM_KERNEL
  return all;
}

}  // namespace ohm::ops::kernels
