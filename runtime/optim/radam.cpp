#include "runtime/optim/radam.h"

#include <cmath>

#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/functions.h"
#include "runtime/kernels/functors/update.h"

namespace ohm::optim {
namespace {

enum RadamSlot : std::size_t { kRadamStep, kRadamExpAvg, kRadamExpAvgSq };

Tensor times(const Tensor& tensor, double factor) {
  return new_from(tensor, functors::Scaled{factor});
}

}  // namespace

Radam::Radam(std::vector<Tensor> parameters, const RadamOptions& options)
    : Optimizer(std::move(parameters), options.lr, options.form), options_(options) {
  require_beta(options.beta1, "RAdam");
  require_beta(options.beta2, "RAdam");
}

void Radam::make_state(ParameterState& state) {
  state.tensors[kRadamStep] = step_count(Device::cpu());
  state.tensors[kRadamExpAvg] = zeros_like(state.parameter);
  state.tensors[kRadamExpAvgSq] = zeros_like(state.parameter);
}

GradientRule Radam::rule() const {
  return {options_.decoupled_weight_decay ? 0.0 : options_.weight_decay, options_.maximize};
}

double Radam::first_correction(const ParameterState& state) const {
  return 1.0 - std::pow(options_.beta1, static_cast<double>(state.steps));
}

double Radam::second_correction(const ParameterState& state) const {
  return 1.0 - std::pow(options_.beta2, static_cast<double>(state.steps));
}

std::optional<double> Radam::rectification(const ParameterState& state) const {
  const auto step = static_cast<double>(state.steps);
  const double limit = 2.0 / (1.0 - options_.beta2) - 1.0;
  const double rho = limit - 2.0 * step * std::pow(options_.beta2, step) / second_correction(state);
  if (rho <= 5.0) return std::nullopt;
  return std::sqrt((rho - 4.0) * (rho - 2.0) * limit / ((limit - 4.0) * (limit - 2.0) * rho));
}

void Radam::update_moments(ParameterState& state, const Tensor& grad) const {
  advance(state);
  if (options_.decoupled_weight_decay && options_.weight_decay != 0.0) {
    multiply(state.parameter, 1.0 - learning_rate() * options_.weight_decay);
  }
  blend(state.tensors[kRadamExpAvg], grad, 1.0 - options_.beta1);
  blend_squares(state.tensors[kRadamExpAvgSq], grad, options_.beta2, 1.0 - options_.beta2);
}

void Radam::update_list(const States& states) {
  {
    TemporaryList grads(states.size());
    set_gradients(grads, states, rule());
    for (std::size_t i = 0; i < states.size(); ++i) update_moments(*states[i], grads[i]);
  }
  TemporaryList factors(states.size());
  for (const ParameterState* state : states)
    factors.push_back(new_sqrt(state->tensors[kRadamExpAvgSq]));
  for (std::size_t i = 0; i < states.size(); ++i) {
    const double step_size = -learning_rate() / first_correction(*states[i]);
    const std::optional<double> r = rectification(*states[i]);
    const double rectified = r ? std::sqrt(second_correction(*states[i])) * step_size * *r : 0.0;
    update(factors[i], functors::ShiftedInverse{rectified, options_.eps, r ? 0.0 : step_size});
    update_with(states[i]->parameter, states[i]->tensors[kRadamExpAvg], factors[i],
                functors::Addcmul{1.0});
  }
}

// lr · m̂, times what the rectified variance makes of it; each product is a tensor of its own.
Tensor Radam::new_direction(const ParameterState& state, const Tensor& corrected) const {
  const std::optional<double> r = rectification(state);
  Tensor direction = times(corrected, learning_rate());
  if (!r) return direction;
  Tensor root = new_sqrt(state.tensors[kRadamExpAvgSq]);
  add_number(root, options_.eps);
  Tensor adaptive = new_from(root, functors::NumberOver{std::sqrt(second_correction(state))});
  root = Tensor();
  Tensor product = new_from(direction, adaptive, functors::Product());
  direction = Tensor();
  adaptive = Tensor();
  return times(product, *r);
}

void Radam::update_each(const States& states) {
  Variable corrected;
  Variable grad;  // declared last: it goes first
  for (ParameterState* state : states) {
    set_gradient(grad, state->parameter, rule());
    update_moments(*state, grad);
    corrected = times(state->tensors[kRadamExpAvg], 1.0 / first_correction(*state));
    add_scaled(state->parameter, new_direction(*state, corrected), -1.0);
  }
}

}  // namespace ohm::optim
