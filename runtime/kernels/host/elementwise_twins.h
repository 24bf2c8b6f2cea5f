// The twins of element-wise kernels: the same functors in a loop on the host.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/kernels/cuda/cuda_kernels.h"
#include "runtime/kernels/cuda/kernel_module.h"
#include "runtime/kernels/functors/functor_list.h"
#include "runtime/kernels/host/verified.h"

namespace ohm::kernels {

/// One functor for the loops of one compute type, and its twin.
struct ElementwiseKernel {
  std::string_view functor;      ///< its kKernel
  DType dtype = DType::float32;  ///< see kernel_dtype
  int inputs = 0;
  const void* parameters = nullptr;  ///< to verify it with
  /// Runs the loop on the host, whose addresses the operands have.
  void (*twin)(const ElementwiseLaunch& loop, const void* parameters) = nullptr;

  std::string symbol() const { return kernel_symbol(functor, dtype); }
};

namespace detail {

// Not inlined: in the loop of each functor they would take most of the time to compile it.
template <class Compute>
[[gnu::noinline]] Compute read_operand(const ElementwiseOperand& operand, std::int64_t offset,
                                       DType as) {
  if (operand.is_number) return convert_element<Compute>(operand.number);
  return visit_dtype(operand.dtype, [&]<class Stored>(TypeTag<Stored>) {
    const Stored stored = reinterpret_cast<const Stored*>(operand.address)[offset];
    return visit_dtype(as, [&]<class In>(TypeTag<In>) {
      return convert_element<Compute>(convert_element<In>(stored));
    });
  });
}

template <class Value>
[[gnu::noinline]] void write_operand(const ElementwiseOperand& operand, std::int64_t offset,
                                     Value value) {
  visit_dtype(operand.dtype, [&]<class Stored>(TypeTag<Stored>) {
    reinterpret_cast<Stored*>(operand.address)[offset] = convert_element<Stored>(value);
  });
}

inline std::int64_t offset_of(const ElementwiseLaunch& loop, const ElementwiseOperand& operand,
                              std::uint64_t i) {
  std::int64_t offset = 0;
  for (int dim = loop.dims - 1; dim >= 0; --dim) {
    const auto size = static_cast<std::uint64_t>(loop.sizes[dim]);
    offset += static_cast<std::int64_t>(i % size) * operand.strides[dim];
    i /= size;
  }
  return offset;
}

template <class Functor, class Compute, std::size_t... K>
void run_twin(const ElementwiseLaunch& loop, const void* parameters, std::index_sequence<K...>) {
  const auto& functor = *static_cast<const Functor*>(parameters);
  for (std::uint64_t i = 0; i < loop.count; ++i) {
    const std::int64_t to = offset_of(loop, loop.out, i);
    if constexpr (sizeof...(K) == 0) {
      write_operand(loop.out, to, functor(i));
    } else {
      write_operand(loop.out, to,
                    functor(read_operand<Compute>(loop.in[K], offset_of(loop, loop.in[K], i),
                                                  loop.dtype)...));
    }
  }
}

template <class Functor, class Compute, int Inputs>
void twin(const ElementwiseLaunch& loop, const void* parameters) {
  run_twin<Functor, Compute>(loop, parameters, std::make_index_sequence<Inputs>());
}

}  // namespace detail

/// Every kernel, in the order of the list.
inline std::vector<ElementwiseKernel> elementwise_kernels() {
  std::vector<ElementwiseKernel> all;
#define OHM_KERNEL(name, Functor, inputs, type, Compute, ...)                                \
  static_assert(std::string_view(functors::Functor::kKernel) == #name);                      \
  all.push_back({#name, DType::type, inputs, Verified<functors::Functor>::with(__VA_ARGS__), \
                 detail::twin<functors::Functor, Compute, inputs>});
#define OHM_ROW(name, Functor, inputs, ...)                                    \
  OHM_KERNEL(name, Functor, inputs, float32, float __VA_OPT__(, ) __VA_ARGS__) \
  OHM_KERNEL(name, Functor, inputs, float64, double __VA_OPT__(, ) __VA_ARGS__)
  OHM_FOR_EACH_FLOATING_FUNCTOR(OHM_ROW)
  OHM_FOR_EACH_GENERAL_FUNCTOR(OHM_ROW)
#undef OHM_ROW
#define OHM_ROW(name, Functor, inputs, ...) \
  OHM_KERNEL(name, Functor, inputs, int64, std::int64_t __VA_OPT__(, ) __VA_ARGS__)
  OHM_FOR_EACH_GENERAL_FUNCTOR(OHM_ROW)
#undef OHM_ROW
#define OHM_ROW(name, Functor, inputs, ...) \
  OHM_KERNEL(name, Functor, inputs, float32, float __VA_OPT__(, ) __VA_ARGS__)
  OHM_FOR_EACH_GENERATOR(OHM_ROW)
#undef OHM_ROW
#undef OHM_KERNEL
  return all;
}

}  // namespace ohm::kernels
