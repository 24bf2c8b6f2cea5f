#include "runtime/optim/nadam.h"

#include <cmath>

#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/update.h"

namespace ohm::optim {
namespace {

enum NadamSlot : std::size_t { kNadamStep, kNadamMuProduct, kNadamExpAvg, kNadamExpAvgSq };

}  // namespace

Nadam::Nadam(std::vector<Tensor> parameters, const NadamOptions& options)
    : Optimizer(std::move(parameters), options.lr, options.form), options_(options) {
  require_beta(options.beta1, "NAdam");
  require_beta(options.beta2, "NAdam");
}

void Nadam::make_state(ParameterState& state) {
  state.tensors[kNadamStep] = step_count(Device::cpu());
  state.tensors[kNadamMuProduct] = ones({}, {DType::float32, Device::cpu()});
  state.tensors[kNadamExpAvg] = zeros_like(state.parameter);
  state.tensors[kNadamExpAvgSq] = zeros_like(state.parameter);
  mu_products_[&state] = 1.0;
}

GradientRule Nadam::rule() const {
  return {options_.decoupled_weight_decay ? 0.0 : options_.weight_decay, options_.maximize};
}

double Nadam::momentum_at(std::int64_t step) const {
  const double exponent = static_cast<double>(step) * options_.momentum_decay;
  return options_.beta1 * (1.0 - 0.5 * std::pow(0.96, exponent));
}

double Nadam::second_correction(const ParameterState& state) const {
  return 1.0 - std::pow(options_.beta2, static_cast<double>(state.steps));
}

void Nadam::update_moments(ParameterState& state, const Tensor& grad) {
  advance(state);
  if (options_.decoupled_weight_decay && options_.weight_decay != 0.0) {
    multiply(state.parameter, 1.0 - learning_rate() * options_.weight_decay);
  }
  double& product = mu_products_[&state];
  product *= momentum_at(state.steps);
  fill_values(state.tensors[kNadamMuProduct], product);
  blend(state.tensors[kNadamExpAvg], grad, 1.0 - options_.beta1);
  blend_squares(state.tensors[kNadamExpAvgSq], grad, options_.beta2, 1.0 - options_.beta2);
}

void Nadam::apply(const ParameterState& state, const Tensor& grad, const Tensor& denominator) {
  const double product = mu_products_[&state];
  const double next = momentum_at(state.steps + 1);
  const double lr = learning_rate();
  add_quotient(state.parameter, grad, denominator,
               -lr * (1.0 - momentum_at(state.steps)) / (1.0 - product));
  add_quotient(state.parameter, state.tensors[kNadamExpAvg], denominator,
               -lr * next / (1.0 - product * next));
}

void Nadam::update_list(const States& states) {
  TemporaryList denominators(states.size());
  TemporaryList grads(states.size());  // declared last: it goes first
  set_gradients(grads, states, rule());
  for (std::size_t i = 0; i < states.size(); ++i) update_moments(*states[i], grads[i]);
  for (const ParameterState* state : states) {
    denominators.push_back(new_sqrt(state->tensors[kNadamExpAvgSq]));
  }
  for (std::size_t i = 0; i < states.size(); ++i) {
    update(denominators[i],
           functors::DividedAndShifted{std::sqrt(second_correction(*states[i])), options_.eps});
    apply(*states[i], grads[i], denominators[i]);
  }
}

void Nadam::update_each(const States& states) {
  Variable denominator;
  Variable grad;  // declared last: it goes first
  for (ParameterState* state : states) {
    set_gradient(grad, state->parameter, rule());
    update_moments(*state, grad);
    Tensor quotient =
        new_from(state->tensors[kNadamExpAvgSq], functors::Divided{second_correction(*state)});
    Tensor root = new_sqrt(quotient);
    quotient = Tensor();
    denominator = std::move(root);
    add_number(denominator, options_.eps);
    apply(*state, grad, denominator);
  }
}

}  // namespace ohm::optim
