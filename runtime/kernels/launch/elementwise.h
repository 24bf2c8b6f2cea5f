// Element-wise loops: what every kernel without a library behind it is written with.
//
// Operands broadcast to the output's shape and are read as the loop's dtype; an operand of another
// dtype is converted on the fly, as GPU kernels do. On size-only devices nothing happens.
//
// Where the operands are on a CUDA device and the function is a functor that has a kernel there,
// the loop is that kernel; else it runs on the host (Note [Two copies of values]), over packed
// elements of what the dtype is computed in: one loop for each compute type, whatever dtypes and
// layouts the tensors have.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>

#include "allocator_shim/base/assert.h"
#include "runtime/base/compute_dtype.h"
#include "runtime/base/dtype.h"
#include "runtime/tensor/tensor.h"

namespace ohm {

/// What a loop reads: a tensor, or one number, which takes part as it is in the compute type.
struct ElementwiseInput {
  ElementwiseInput(const Tensor& of) : tensor(&of) {}  // NOLINT(google-explicit-constructor)
  ElementwiseInput(double of) : number(of) {}          // NOLINT(google-explicit-constructor)

  const Tensor* tensor = nullptr;
  double number = 0;
};

/// A function and how it is applied to packed elements.
struct ElementwiseFunction {
  /// Its kernel on CUDA devices: see runtime/kernels/functors/functor_list.h. Null without one.
  const char* kernel;
  void* function;  ///< borrowed; the kernel's parameters
  void (*loop)(void* function, void* out, const void* const* inputs, std::int64_t count);
  DType result;  ///< what the loop writes: bool, int64, float32 or float64
};

/// out[i] = function(inputs[i]...), read as `dtype`. The function's loop is one for
/// compute_dtype(dtype). At most three inputs.
void run_elementwise(const ElementwiseFunction& function, DType dtype, const Tensor& out,
                     std::initializer_list<ElementwiseInput> inputs);

/// As run_elementwise, on a CUDA device alone. False where it cannot run on the device that `out`
/// is on: nothing was done. Without inputs, each element is computed from its number in row-major
/// order. Pre-condition: everything has values.
bool run_on_cuda(const char* kernel, const void* parameters, DType dtype, const Tensor& out,
                 std::initializer_list<ElementwiseInput> inputs);

namespace detail {

template <class F>
constexpr const char* kernel_of() {
  if constexpr (requires { F::kKernel; }) {
    return F::kKernel;
  } else {
    return nullptr;
  }
}

/// What a loop in Compute writes of a function's results.
template <class Compute, class Result>
using PackedResult = std::conditional_t<
    std::is_same_v<Result, bool>, bool,
    std::conditional_t<std::is_integral_v<Result>, std::int64_t,
                       std::conditional_t<std::is_integral_v<Compute>, double, Compute>>>;

template <class Compute, class F, std::size_t... K>
ElementwiseFunction packed(F& function, std::index_sequence<K...>) {
  using Result =
      PackedResult<Compute,
                   std::remove_cvref_t<decltype(function((static_cast<void>(K), Compute())...))>>;
  const auto loop = [](void* borrowed, void* out, const void* const* inputs, std::int64_t count) {
    F& fn = *static_cast<F*>(borrowed);
    auto* target = static_cast<Result*>(out);
    const std::array<const Compute*, sizeof...(K)> in = {static_cast<const Compute*>(inputs[K])...};
    for (std::int64_t i = 0; i < count; ++i) {
      target[i] = convert_element<Result>(fn(in[K][i]...));
    }
  };
  return {kernel_of<std::remove_const_t<F>>(),
          const_cast<std::remove_const_t<F>*>(std::addressof(function)), loop, dtype_of<Result>()};
}

}  // namespace detail

/// out[i] = fn(inputs[i]...), each input a tensor or a number, read as `dtype`: `fn` takes the
/// compute type and returns anything convertible to out's dtype.
template <class F, class... Inputs>
void map_elements(const Tensor& out, DType dtype, F&& fn, const Inputs&... inputs) {
  if (!out.has_values()) return;
  visit_packed(compute_dtype(dtype), [&]<class Compute>(TypeTag<Compute>) {
    constexpr auto kInputs = std::index_sequence_for<Inputs...>();
    run_elementwise(detail::packed<Compute>(fn, kInputs), dtype, out, {inputs...});
  });
}

/// As map_elements, for floating dtypes alone. Pre-condition: is_floating(dtype).
template <class F, class... Inputs>
void map_floating(const Tensor& out, DType dtype, F&& fn, const Inputs&... inputs) {
  OHM_ASSERT(is_floating(dtype), "the loop has no integers");
  if (!out.has_values()) return;
  constexpr auto kInputs = std::index_sequence_for<Inputs...>();
  run_elementwise(dtype == DType::float64 ? detail::packed<double>(fn, kInputs)
                                          : detail::packed<float>(fn, kInputs),
                  dtype, out, {inputs...});
}

/// Whether `fn` has a kernel that computed each element of `out` from its number.
template <class F>
bool is_generated_on_cuda(const F& fn, const Tensor& out) {
  constexpr const char* kKernel = detail::kernel_of<F>();
  return kKernel != nullptr && run_on_cuda(kKernel, &fn, DType::float32, out, {});
}

}  // namespace ohm
