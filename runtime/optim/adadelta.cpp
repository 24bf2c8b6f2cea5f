#include "runtime/optim/adadelta.h"

#include "runtime/kernels/functors/update.h"

namespace ohm::optim {
namespace {

enum AdadeltaSlot : std::size_t { kAdadeltaStep, kAdadeltaSquareAvg, kAdadeltaAccDelta };

}  // namespace

Adadelta::Adadelta(std::vector<Tensor> parameters, const AdadeltaOptions& options)
    : Optimizer(std::move(parameters), options.lr, options.form), options_(options) {
  require_beta(options.rho, "Adadelta");
}

void Adadelta::make_state(ParameterState& state) {
  state.tensors[kAdadeltaStep] = step_count(Device::cpu());
  state.tensors[kAdadeltaSquareAvg] = zeros_like(state.parameter);
  state.tensors[kAdadeltaAccDelta] = zeros_like(state.parameter);
}

Tensor Adadelta::new_root(const Tensor& square) const {
  return new_from(square, functors::RootOfShifted{options_.eps});
}

void Adadelta::apply(const ParameterState& state, const Tensor& grad, const Tensor& root,
                     const Tensor& delta) const {
  update_with(delta, root, grad, functors::QuotientTimes());
  blend_squares(state.tensors[kAdadeltaAccDelta], delta, options_.rho, 1.0 - options_.rho);
  add_scaled(state.parameter, delta, -learning_rate());
}

void Adadelta::update_list(const States& states) {
  // In the reverse of the order in which Python's frame lets them go.
  TemporaryList deltas(states.size());
  TemporaryList roots(states.size());
  TemporaryList grads(states.size());
  set_gradients(grads, states, rule());
  for (std::size_t i = 0; i < states.size(); ++i) {
    advance(*states[i]);
    blend_squares(states[i]->tensors[kAdadeltaSquareAvg], grads[i], options_.rho,
                  1.0 - options_.rho);
  }
  for (const ParameterState* state : states)
    roots.push_back(new_root(state->tensors[kAdadeltaSquareAvg]));
  for (const ParameterState* state : states)
    deltas.push_back(new_root(state->tensors[kAdadeltaAccDelta]));
  for (std::size_t i = 0; i < states.size(); ++i) apply(*states[i], grads[i], roots[i], deltas[i]);
}

void Adadelta::update_each(const States& states) {
  Variable delta;
  Variable root;
  Variable grad;
  for (ParameterState* state : states) {
    replace_gradient(grad, state->parameter, rule());
    advance(*state);
    blend_squares(state->tensors[kAdadeltaSquareAvg], grad, options_.rho, 1.0 - options_.rho);
    root = new_root(state->tensors[kAdadeltaSquareAvg]);
    delta = new_root(state->tensors[kAdadeltaAccDelta]);
    apply(*state, grad, root, delta);
  }
}

}  // namespace ohm::optim
