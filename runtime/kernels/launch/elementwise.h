// Element-wise loops: what every kernel without a library behind it is written with.
//
// Operands broadcast to the output's shape and are read as the loop's element type; an operand of
// another dtype is converted on the fly, as GPU kernels do, in host scratch that no device counts.
// On size-only devices nothing happens.
//
// Where the operands are on a CUDA device and the function is a functor that has a kernel there,
// the loop is that kernel; else it runs on the host (Note [Two copies of values]).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <type_traits>

#include "runtime/base/dtype.h"
#include "runtime/base/strided.h"
#include "runtime/tensor/tensor.h"

namespace ohm {

/// Strides that read `tensor` as if it had `shape`. Pre-condition: it broadcasts to it.
Shape broadcast_strides(const Tensor& tensor, const Shape& shape);

/// The dtype whose elements are stored as T.
template <class T>
constexpr DType dtype_of() {
  for (std::size_t i = 0; i < kDTypes.size(); ++i) {
    const auto dtype = static_cast<DType>(i);
    if (visit_dtype(dtype, []<class U>(TypeTag<U>) { return std::is_same_v<U, T>; })) return dtype;
  }
  return DType::float64;
}

/// What a loop on a CUDA device reads: a tensor, or one number.
struct ElementwiseInput {
  ElementwiseInput(const Tensor& of) : tensor(&of) {}  // NOLINT(google-explicit-constructor)
  ElementwiseInput(double of) : number(of) {}          // NOLINT(google-explicit-constructor)

  const Tensor* tensor = nullptr;
  double number = 0;
};

/// A loop whose function is the kernel `functor` with these parameters, read as `dtype`. False
/// where it cannot run on the device that `out` is on: nothing was done. Without inputs, each
/// element is computed from its number in row-major order. Pre-condition: everything has values.
bool run_on_cuda(const char* functor, const void* parameters, DType dtype, const Tensor& out,
                 std::initializer_list<ElementwiseInput> inputs);

/// A function that CUDA devices have a kernel of: see runtime/kernels/functors/functor_list.h.
template <class F>
concept HasKernel = requires {
  std::remove_cvref_t<F>::kKernel;
};

/// As run_on_cuda, for a loop over elements read as In.
template <class In, class F, class... Inputs>
bool is_done_on_cuda(const F& fn, const Tensor& out, const Inputs&... inputs) {
  if constexpr (HasKernel<F>) {
    return out.cuda_backend() != nullptr &&
           run_on_cuda(F::kKernel, &fn, dtype_of<In>(), out, {inputs...});
  } else {
    return false;
  }
}

/// A tensor's elements, broadcast to a shape and readable as T.
template <class T>
class Operand {
 public:
  Operand(const Tensor& tensor, const Shape& shape);

  const T* data() const { return data_; }
  const Shape& strides() const { return strides_; }
  bool is_flat() const { return is_flat_; }      ///< element i of the output is data()[i]
  bool is_scalar() const { return is_scalar_; }  ///< every element of the output is data()[0]

 private:
  void convert(const Tensor& tensor, const Shape& shape);

  const T* data_ = nullptr;
  Shape strides_;
  bool is_flat_ = false;
  bool is_scalar_ = false;
  std::unique_ptr<T[]> scratch_;
};

// Compiled once: every loop has operands.
extern template class Operand<bool>;
extern template class Operand<std::uint8_t>;
extern template class Operand<std::int32_t>;
extern template class Operand<std::int64_t>;
extern template class Operand<Half>;
extern template class Operand<BFloat16>;
extern template class Operand<float>;
extern template class Operand<double>;

/// out[i] = fn(a[i]): `fn` takes the compute type of In and returns anything convertible to Out.
template <class Out, class In, class F>
void map_unary(const Tensor& out, const Tensor& a, F&& fn) {
  if (!out.has_values() || !a.has_values()) return;
  if (is_done_on_cuda<In>(fn, out, a)) return;
  using Compute = ComputeType<In>;
  Out* target = out.data<Out>();
  const Operand<In> operand(a, out.shape());
  if (out.is_contiguous() && operand.is_flat()) {
    const In* source = operand.data();
    const std::int64_t count = out.numel();
    for (std::int64_t i = 0; i < count; ++i) {
      target[i] = convert_element<Out>(fn(convert_element<Compute>(source[i])));
    }
    return;
  }
  for_each_offsets<2>(out.shape(), {out.strides(), operand.strides()}, [&](const auto& at) {
    target[at[0]] = convert_element<Out>(fn(convert_element<Compute>(operand.data()[at[1]])));
  });
}

/// out[i] = fn(a[i], number), which takes part as it is in the compute type of In.
template <class Out, class In, class F>
void map_with_number(const Tensor& out, const Tensor& a, double number, F&& fn) {
  if (!out.has_values() || !a.has_values()) return;
  if (is_done_on_cuda<In>(fn, out, a, number)) return;
  const auto converted = convert_element<ComputeType<In>>(number);
  map_unary<Out, In>(out, a, [&](auto x) { return fn(x, converted); });
}

/// out[i] = fn(a[i], b[i]), both read as In.
template <class Out, class In, class F>
void map_binary(const Tensor& out, const Tensor& a, const Tensor& b, F&& fn) {
  if (!out.has_values() || !a.has_values() || !b.has_values()) return;
  if (is_done_on_cuda<In>(fn, out, a, b)) return;
  using Compute = ComputeType<In>;
  Out* target = out.data<Out>();
  const Operand<In> left(a, out.shape());
  const Operand<In> right(b, out.shape());
  const bool left_is_simple = left.is_flat() || left.is_scalar();
  const bool right_is_simple = right.is_flat() || right.is_scalar();
  const auto apply = [&](const In& x, const In& y) {
    return convert_element<Out>(fn(convert_element<Compute>(x), convert_element<Compute>(y)));
  };
  if (out.is_contiguous() && left_is_simple && right_is_simple) {
    const In* x = left.data();
    const In* y = right.data();
    const std::int64_t count = out.numel();
    if (left.is_flat() && right.is_flat()) {
      for (std::int64_t i = 0; i < count; ++i) target[i] = apply(x[i], y[i]);
    } else if (left.is_flat()) {
      const In scalar = *y;
      for (std::int64_t i = 0; i < count; ++i) target[i] = apply(x[i], scalar);
    } else {
      const In scalar = *x;
      for (std::int64_t i = 0; i < count; ++i) {
        target[i] = apply(scalar, right.is_flat() ? y[i] : *y);
      }
    }
    return;
  }
  for_each_offsets<3>(
      out.shape(), {out.strides(), left.strides(), right.strides()},
      [&](const auto& at) { target[at[0]] = apply(left.data()[at[1]], right.data()[at[2]]); });
}

/// out[i] = fn(a[i], b[i], c[i]), all read as In.
template <class Out, class In, class F>
void map_ternary(const Tensor& out, const Tensor& a, const Tensor& b, const Tensor& c, F&& fn) {
  if (!out.has_values() || !a.has_values() || !b.has_values() || !c.has_values()) return;
  if (is_done_on_cuda<In>(fn, out, a, b, c)) return;
  using Compute = ComputeType<In>;
  Out* target = out.data<Out>();
  const Operand<In> x(a, out.shape());
  const Operand<In> y(b, out.shape());
  const Operand<In> z(c, out.shape());
  for_each_offsets<4>(
      out.shape(), {out.strides(), x.strides(), y.strides(), z.strides()}, [&](const auto& at) {
        target[at[0]] = convert_element<Out>(fn(convert_element<Compute>(x.data()[at[1]]),
                                                convert_element<Compute>(y.data()[at[2]]),
                                                convert_element<Compute>(z.data()[at[3]])));
      });
}

}  // namespace ohm
