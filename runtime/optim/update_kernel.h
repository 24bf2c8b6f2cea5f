// The arithmetic of updates: in-place loops over one tensor each, and the temporaries that the
// list forms make.
#pragma once

#include <vector>

#include "runtime/tensor/elementwise.h"
#include "runtime/tensor/factories.h"

namespace ohm::optim {

using TensorList = std::vector<Tensor>;

/// target[i] = fn(target[i], a[i]).
template <class F>
void update_with(const Tensor& target, const Tensor& a, F&& fn) {
  target.storage().bump_version();
  visit_floating(target.dtype(),
                 [&]<class T>(TypeTag<T>) { map_binary<T, T>(target, target, a, fn); });
}

/// target[i] = fn(target[i], a[i], b[i]).
template <class F>
void update_with(const Tensor& target, const Tensor& a, const Tensor& b, F&& fn) {
  target.storage().bump_version();
  visit_floating(target.dtype(),
                 [&]<class T>(TypeTag<T>) { map_ternary<T, T>(target, target, a, b, fn); });
}

/// target[i] = fn(target[i]).
template <class F>
void update(const Tensor& target, F&& fn) {
  target.storage().bump_version();
  visit_floating(target.dtype(), [&]<class T>(TypeTag<T>) { map_unary<T, T>(target, target, fn); });
}

/// fn(a[i]) in a new tensor.
template <class F>
Tensor new_from(const Tensor& a, F&& fn) {
  Tensor out = empty_like(a);
  visit_floating(a.dtype(), [&]<class T>(TypeTag<T>) { map_unary<T, T>(out, a, fn); });
  return out;
}

/// fn(a[i], b[i]) in a new tensor like `a`.
template <class F>
Tensor new_from(const Tensor& a, const Tensor& b, F&& fn) {
  Tensor out = empty_like(a);
  visit_floating(a.dtype(), [&]<class T>(TypeTag<T>) { map_binary<T, T>(out, a, b, fn); });
  return out;
}

/// The gradient that an update uses: the parameter's own, or (weight decay, maximize) a temporary.
struct GradientRule {
  double weight_decay = 0.0;
  bool maximize = false;
};

/// One tensor for each parameter: its `.grad`, or a new one where the rule changes it. For lists
/// all new ones live together.
Tensor effective_gradient(const Tensor& parameter, const GradientRule& rule);

}  // namespace ohm::optim
