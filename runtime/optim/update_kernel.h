// The arithmetic of updates: in-place loops over one tensor each, and the temporaries that the
// forms make.
#pragma once

#include <utility>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/kernels/launch/elementwise.h"
#include "runtime/lifetimes/lifetimes.h"
#include "runtime/optim/optimizer.h"

namespace ohm::optim {

/// target[i] = fn(target[i], a[i]).
template <class F>
void update_with(const Tensor& target, const Tensor& a, F&& fn) {
  target.bump_version();
  map_floating(target, target.dtype(), fn, target, a);
}

/// target[i] = fn(target[i], a[i], b[i]).
template <class F>
void update_with(const Tensor& target, const Tensor& a, const Tensor& b, F&& fn) {
  target.bump_version();
  map_floating(target, target.dtype(), fn, target, a, b);
}

/// target[i] = fn(target[i]).
template <class F>
void update(const Tensor& target, F&& fn) {
  target.bump_version();
  map_floating(target, target.dtype(), fn, target);
}

/// fn(a[i]) in a new tensor.
template <class F>
Tensor new_from(const Tensor& a, F&& fn) {
  Tensor out = empty_like(a);
  map_floating(out, out.dtype(), fn, a);
  return out;
}

/// fn(a[i], b[i]) in a new tensor like `a`.
template <class F>
Tensor new_from(const Tensor& a, const Tensor& b, F&& fn) {
  Tensor out = empty_like(a);
  map_floating(out, out.dtype(), fn, a, b);
  return out;
}

// What the functors are made of.
Tensor new_sqrt(const Tensor& a);
/// a + number, a · number.
void add_number(const Tensor& target, double number);
void multiply(const Tensor& target, double factor);
/// target += factor · a.
void add_scaled(const Tensor& target, const Tensor& a, double factor);
/// target = (1 − share) · target + share · a.
void blend(const Tensor& target, const Tensor& a, double share);
/// target = keep · target + share · a².
void blend_squares(const Tensor& target, const Tensor& a, double keep, double share);
/// target += factor · a / b.
void add_quotient(const Tensor& target, const Tensor& a, const Tensor& b, double factor);

/// The gradient that an update uses: the parameter's own, or (weight decay, maximize) a temporary.
struct GradientRule {
  double weight_decay = 0.0;
  bool maximize = false;

  bool makes_temporaries() const { return weight_decay != 0.0 || maximize; }
};

/// Into `gradient`: the parameter's `.grad`, or a new tensor where the rule changes it. What the
/// variable held goes when Python's would.
void set_gradient(Tensor& gradient, const Tensor& parameter, const GradientRule& rule);
/// The same where Python's variable is the `.grad` first: what it held goes before that is negated.
void replace_gradient(Tensor& gradient, const Tensor& parameter, const GradientRule& rule);

/// One for each parameter; new ones live together.
void set_gradients(TemporaryList& gradients, const std::vector<ParameterState*>& states,
                   const GradientRule& rule);

/// A count of steps as a tensor on `device`: what most optimizers keep first.
Tensor step_count(Device device);
/// Counts a step in `state.steps` and in its first tensor.
void advance(ParameterState& state);

}  // namespace ohm::optim
