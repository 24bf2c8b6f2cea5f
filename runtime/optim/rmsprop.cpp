#include "runtime/optim/rmsprop.h"

#include "runtime/kernels/functors/update.h"

namespace ohm::optim {
namespace {

constexpr std::size_t kSquareAvg = 1;

}  // namespace

Rmsprop::Rmsprop(std::vector<Tensor> parameters, const RmspropOptions& options)
    : Optimizer(std::move(parameters), options.lr, options.form), options_(options) {}

std::vector<std::string_view> Rmsprop::state_names() const {
  std::vector<std::string_view> names = {"step", "square_avg"};
  if (options_.momentum > 0.0) names.emplace_back("momentum_buffer");
  if (options_.centered) names.emplace_back("grad_avg");
  return names;
}

void Rmsprop::make_state(ParameterState& state) {
  state.tensors[0] = step_count(Device::cpu());
  for (std::size_t slot = kSquareAvg; slot < state.tensors.size(); ++slot) {
    state.tensors[slot] = zeros_like(state.parameter);
  }
}

void Rmsprop::update_averages(ParameterState& state, const Tensor& grad) const {
  advance(state);
  blend_squares(state.tensors[kSquareAvg], grad, options_.alpha, 1.0 - options_.alpha);
  if (options_.centered) blend(grad_average(state), grad, 1.0 - options_.alpha);
}

Tensor Rmsprop::new_average(const ParameterState& state) const {
  const Tensor& square = state.tensors[kSquareAvg];
  if (!options_.centered) return new_from(square, functors::RootPlus{options_.eps});
  return new_from(square, grad_average(state), functors::DeviationPlus{options_.eps});
}

void Rmsprop::apply(const ParameterState& state, const Tensor& grad, const Tensor& average) const {
  if (options_.momentum <= 0.0) {
    add_quotient(state.parameter, grad, average, -learning_rate());
    return;
  }
  multiply(buffer(state), options_.momentum);
  add_quotient(buffer(state), grad, average, 1.0);
  add_scaled(state.parameter, buffer(state), -learning_rate());
}

void Rmsprop::update_list(const States& states) {
  TemporaryList averages(states.size());
  TemporaryList grads(states.size());  // declared last: it goes first
  set_gradients(grads, states, rule());
  for (std::size_t i = 0; i < states.size(); ++i) update_averages(*states[i], grads[i]);
  for (const ParameterState* state : states) averages.push_back(new_average(*state));
  for (std::size_t i = 0; i < states.size(); ++i) apply(*states[i], grads[i], averages[i]);
}

void Rmsprop::update_each(const States& states) {
  Variable average;
  Variable grad;  // declared last: it goes first
  for (ParameterState* state : states) {
    replace_gradient(grad, state->parameter, rule());
    update_averages(*state, grad);
    average = new_average(*state);
    apply(*state, grad, average);
  }
}

}  // namespace ohm::optim
