// What the element-wise kernels of real cards have to compute: the same formulas in the host's
// loops.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "runtime/ops/kernels/pointwise_kernels.h"
#include "runtime/tensor/dtype.h"

namespace ohm::ops::kernels {

/// One kernel for one element type, and its twin.
struct PointwiseKernel {
  std::string_view name;  ///< "relu_slope"
  DType dtype = DType::float32;
  int operands = 0;
  /// out[i] = formula(a[i], b[i]) on the host; `b` is not read by kernels of one operand.
  void (*twin)(void* out, const void* a, const void* b, std::size_t count) = nullptr;

  /// As the module has it: "ohm_relu_slope_float32".
  std::string symbol() const {
    return std::string("ohm_").append(name).append("_").append(name_of(dtype));
  }
};

namespace detail {

template <class Formula, int Operands, class T>
void twin(void* out, const void* a, const void* b, std::size_t count) {
  const auto computed = [](const void* values, std::size_t i) {
    return convert_element<ComputeType<T>>(static_cast<const T*>(values)[i]);
  };
  for (std::size_t i = 0; i < count; ++i) {
    if constexpr (Operands == 1) {
      static_cast<T*>(out)[i] = convert_element<T>(Formula{}(computed(a, i)));
    } else {
      static_cast<T*>(out)[i] = convert_element<T>(Formula{}(computed(a, i), computed(b, i)));
    }
  }
}

inline constexpr std::size_t kDTypesOfKernels = 4;

template <class Formula, int Operands>
constexpr std::array<PointwiseKernel, kDTypesOfKernels> kernels_of(std::string_view name) {
  return {{{name, DType::float16, Operands, twin<Formula, Operands, Half>},
           {name, DType::bfloat16, Operands, twin<Formula, Operands, BFloat16>},
           {name, DType::float32, Operands, twin<Formula, Operands, float>},
           {name, DType::float64, Operands, twin<Formula, Operands, double>}}};
}

#define OHM_UNARY_ROW(name, Formula) kernels_of<formulas::Formula, 1>(#name),
#define OHM_BINARY_ROW(name, Formula) kernels_of<formulas::Formula, 2>(#name),
inline constexpr std::array kByFormula = {OHM_FOR_EACH_UNARY_KERNEL(OHM_UNARY_ROW)
                                              OHM_FOR_EACH_BINARY_KERNEL(OHM_BINARY_ROW)};
#undef OHM_UNARY_ROW
#undef OHM_BINARY_ROW

constexpr auto all_kernels() {
  std::array<PointwiseKernel, kByFormula.size() * kDTypesOfKernels> all;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = kByFormula[i / kDTypesOfKernels][i % kDTypesOfKernels];
  }
  return all;
}

inline constexpr auto kPointwiseKernels = all_kernels();

}  // namespace detail

inline std::span<const PointwiseKernel> pointwise_kernels() { return detail::kPointwiseKernels; }

}  // namespace ohm::ops::kernels
