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
  DType dtype;
  int operands;
  /// out[i] = formula(a[i], b[i]) on the host; `b` is not read by kernels of one operand.
  void (*twin)(void* out, const void* a, const void* b, std::size_t count);

  /// As the module has it: "ohm_relu_slope_float32".
  std::string symbol() const {
    return std::string("ohm_").append(name).append("_").append(name_of(dtype));
  }
};

namespace detail {

template <class Formula, class T>
void unary_twin(void* out, const void* a, const void* /*b*/, std::size_t count) {
  using Compute = ComputeType<T>;
  for (std::size_t i = 0; i < count; ++i) {
    static_cast<T*>(out)[i] =
        convert_element<T>(Formula{}(convert_element<Compute>(static_cast<const T*>(a)[i])));
  }
}

template <class Formula, class T>
void binary_twin(void* out, const void* a, const void* b, std::size_t count) {
  using Compute = ComputeType<T>;
  for (std::size_t i = 0; i < count; ++i) {
    static_cast<T*>(out)[i] =
        convert_element<T>(Formula{}(convert_element<Compute>(static_cast<const T*>(a)[i]),
                                     convert_element<Compute>(static_cast<const T*>(b)[i])));
  }
}

#define OHM_DTYPES(KIND, name, operands, Formula)                            \
  {#name, DType::float16, operands, KIND<formulas::Formula, Half>},          \
      {#name, DType::bfloat16, operands, KIND<formulas::Formula, BFloat16>}, \
      {#name, DType::float32, operands, KIND<formulas::Formula, float>},     \
      {#name, DType::float64, operands, KIND<formulas::Formula, double>},
#define OHM_UNARY(name, Formula) OHM_DTYPES(unary_twin, name, 1, Formula)
#define OHM_BINARY(name, Formula) OHM_DTYPES(binary_twin, name, 2, Formula)
inline constexpr PointwiseKernel kPointwiseKernels[] = {OHM_FOR_EACH_UNARY_KERNEL(OHM_UNARY)
                                                            OHM_FOR_EACH_BINARY_KERNEL(OHM_BINARY)};
#undef OHM_UNARY
#undef OHM_BINARY
#undef OHM_DTYPES

}  // namespace detail

inline std::span<const PointwiseKernel> pointwise_kernels() { return detail::kPointwiseKernels; }

}  // namespace ohm::ops::kernels
