#include "runtime/optim/update_kernel.h"

#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/update.h"

namespace ohm::optim {
namespace {

Tensor negated(const Tensor& grad) { return new_from(grad, functors::Neg()); }

functors::ScaledSum decayed_by(double weight) { return {weight}; }

}  // namespace

Tensor new_sqrt(const Tensor& a) { return new_from(a, functors::Sqrt()); }

void add_number(const Tensor& target, double number) { update(target, functors::Shifted{number}); }

void multiply(const Tensor& target, double factor) { update(target, functors::Scaled{factor}); }

void add_scaled(const Tensor& target, const Tensor& a, double factor) {
  update_with(target, a, functors::ScaledSum{factor});
}

void blend(const Tensor& target, const Tensor& a, double share) {
  update_with(target, a, functors::Lerp{share});
}

void blend_squares(const Tensor& target, const Tensor& a, double keep, double share) {
  update_with(target, a, functors::BlendedSquares{keep, share});
}

void add_quotient(const Tensor& target, const Tensor& a, const Tensor& b, double factor) {
  update_with(target, a, b, functors::Addcdiv{factor});
}

void set_gradient(Tensor& gradient, const Tensor& parameter, const GradientRule& rule) {
  gradient = rule.maximize ? negated(parameter.grad()) : parameter.grad();
  if (rule.weight_decay == 0.0) return;
  gradient = new_from(gradient, parameter, decayed_by(rule.weight_decay));
}

void replace_gradient(Tensor& gradient, const Tensor& parameter, const GradientRule& rule) {
  gradient = Tensor();
  set_gradient(gradient, parameter, rule);
}

void set_gradients(TemporaryList& gradients, const std::vector<ParameterState*>& states,
                   const GradientRule& rule) {
  for (const ParameterState* state : states) {
    const Tensor grad = state->parameter.grad();
    // A gradient that is a temporary already is changed in place.
    if (rule.maximize) {
      gradients.push_back(negated(grad));
    } else if (rule.weight_decay != 0.0) {
      gradients.push_back(new_from(grad, state->parameter, decayed_by(rule.weight_decay)));
    } else {
      gradients.push_back(grad);
    }
  }
  if (!rule.maximize || rule.weight_decay == 0.0) return;
  for (std::size_t i = 0; i < states.size(); ++i) {
    update_with(gradients[i], states[i]->parameter, decayed_by(rule.weight_decay));
  }
}

Tensor step_count(Device device) { return zeros({}, {DType::float32, device}); }

void advance(ParameterState& state) {
  ++state.steps;
  fill_values(state.tensors[0], static_cast<double>(state.steps));
}

}  // namespace ohm::optim
