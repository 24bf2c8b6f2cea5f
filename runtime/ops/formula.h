// Whole-tensor arithmetic that gradients are written in: each call is one kernel and one new
// tensor, as each factor of PyTorch's formulas is. No graph is recorded.
#pragma once

#include "runtime/ops/binary_kernel.h"

namespace ohm::ops::formula {

inline Tensor times(const Tensor& tensor, double factor) {
  return map_new(tensor, [factor](auto x) { return x * static_cast<decltype(x)>(factor); });
}
inline Tensor plus(const Tensor& tensor, double number) {
  return map_new(tensor, [number](auto x) { return x + static_cast<decltype(x)>(number); });
}

/// fn over both, broadcast and promoted.
template <class F>
Tensor combined(const Tensor& a, const Tensor& b, F&& fn) {
  constexpr OpInfo kFormula{"backward"};
  return binary_new_floating(kFormula, a, b, result_dtype(a, b), fn);
}
inline Tensor product(const Tensor& a, const Tensor& b) {
  return combined(a, b, [](auto x, auto y) { return x * y; });
}
inline Tensor quotient(const Tensor& a, const Tensor& b) {
  return combined(a, b, [](auto x, auto y) { return x / y; });
}
inline Tensor sum(const Tensor& a, const Tensor& b) {
  return combined(a, b, [](auto x, auto y) { return x + y; });
}
inline Tensor difference(const Tensor& a, const Tensor& b) {
  return combined(a, b, [](auto x, auto y) { return x - y; });
}

/// A bool tensor of the broadcast shape.
template <class F>
Tensor compared(const Tensor& a, const Tensor& b, F&& fn) {
  constexpr OpInfo kFormula{"backward"};
  Tensor out = empty_for(a, b, DType::boolean, kFormula);
  visit_dtype(result_dtype(a, b), [&]<class T>(TypeTag<T>) { map_binary<bool, T>(out, a, b, fn); });
  return out;
}

}  // namespace ohm::ops::formula
