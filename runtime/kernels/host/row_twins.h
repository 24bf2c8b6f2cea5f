// The twins of row kernels: the same functors with a team of one, the host.
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

namespace ohm::kernels {

/// See ElementwiseKernel.
struct RowKernel {
  std::string_view functor;
  DType dtype = DType::float32;
  int indices = -1;  ///< the operand that holds numbers of rows; -1: none
  const void* parameters = nullptr;
  void (*twin)(const RowLaunch& rows, const void* parameters) = nullptr;

  std::string symbol() const { return kernel_symbol(functor, dtype); }
};

namespace detail {

template <class Functor, class Compute>
void row_twin(const RowLaunch& rows, const void* parameters) {
  const auto& functor = *static_cast<const Functor*>(parameters);
  for (std::uint64_t row = 0; row < rows.count; ++row) {
    functor.template run<Compute>(HostTeam(), rows, row);
  }
}

}  // namespace detail

/// Every kernel, in the order of the list.
inline std::vector<RowKernel> row_kernels() {
  std::vector<RowKernel> all;
#define OHM_KERNEL(name, Functor, indices, type, Compute, ...)                                \
  static_assert(std::string_view(functors::Functor::kKernel) == #name);                       \
  all.push_back({#name, DType::type, indices, Verified<functors::Functor>::with(__VA_ARGS__), \
                 detail::row_twin<functors::Functor, Compute>});
#define OHM_ROW(name, Functor, indices, ...)                                    \
  OHM_KERNEL(name, Functor, indices, float32, float __VA_OPT__(, ) __VA_ARGS__) \
  OHM_KERNEL(name, Functor, indices, float64, double __VA_OPT__(, ) __VA_ARGS__)
  OHM_FOR_EACH_FLOATING_ROW(OHM_ROW)
  OHM_FOR_EACH_REDUCTION_ROW(OHM_ROW)
  OHM_FOR_EACH_GATHER_SCATTER_ROW(OHM_ROW)
  OHM_FOR_EACH_POOLING_ROW(OHM_ROW)
  OHM_FOR_EACH_SORTED_TILE(OHM_ROW)
  OHM_FOR_EACH_DIGIT_TILE(OHM_ROW)
  OHM_FOR_EACH_SORTING_ROW(OHM_ROW)
  OHM_FOR_EACH_GENERAL_ROW(OHM_ROW)
#undef OHM_ROW
#define OHM_ROW(name, Functor, indices, ...) \
  OHM_KERNEL(name, Functor, indices, float32, float __VA_OPT__(, ) __VA_ARGS__)
  OHM_FOR_EACH_ATTENTION_ROW(OHM_ROW)
#undef OHM_ROW
#define OHM_ROW(name, Functor, indices, ...) \
  OHM_KERNEL(name, Functor, indices, int64, std::int64_t __VA_OPT__(, ) __VA_ARGS__)
  OHM_FOR_EACH_GATHER_SCATTER_ROW(OHM_ROW)
  OHM_FOR_EACH_GENERAL_ROW(OHM_ROW)
#undef OHM_ROW
#undef OHM_KERNEL
  return all;
}

}  // namespace ohm::kernels
