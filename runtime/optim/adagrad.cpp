#include "runtime/optim/adagrad.h"

#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/update.h"
#include "runtime/tensor/context.h"

namespace ohm::optim {
namespace {

enum AdagradSlot : std::size_t { kAdagradStep, kAdagradSum };

}  // namespace

Adagrad::Adagrad(std::vector<Tensor> parameters, const AdagradOptions& options)
    : Optimizer(std::move(parameters), options.lr, options.form), options_(options) {
  const CategoryGuard category(Category::optimizer_state);
  for (const Tensor& parameter : this->parameters()) state_of(parameter);
}

void Adagrad::make_state(ParameterState& state) {
  state.tensors[kAdagradStep] = step_count(Device::cpu());
  state.tensors[kAdagradSum] = empty_like(state.parameter);
  fill_values(state.tensors[kAdagradSum], options_.initial_accumulator_value);
}

double Adagrad::step_size(const ParameterState& state) const {
  return learning_rate() / (1.0 + static_cast<double>(state.steps - 1) * options_.lr_decay);
}

Tensor Adagrad::new_root(const ParameterState& state) const {
  return new_from(state.tensors[kAdagradSum], functors::RootPlus{options_.eps});
}

void Adagrad::update_list(const States& states) {
  // In the reverse of the order in which Python's frame lets them go.
  TemporaryList grads(states.size());
  TemporaryList numerators(states.size());
  TemporaryList roots(states.size());
  set_gradients(grads, states, rule());
  for (std::size_t i = 0; i < states.size(); ++i) {
    advance(*states[i]);
    blend_squares(states[i]->tensors[kAdagradSum], grads[i], 1.0, 1.0);
  }
  for (const ParameterState* state : states) roots.push_back(new_root(*state));
  for (std::size_t i = 0; i < states.size(); ++i) {
    const double factor = -step_size(*states[i]);
    if (rule().makes_temporaries()) {
      multiply(grads[i], factor);
    } else {
      numerators.push_back(new_from(grads[i], functors::Scaled{factor}));
    }
  }
  for (std::size_t i = 0; i < states.size(); ++i) {
    const Tensor& numerator = numerators.empty() ? grads[i] : numerators[i];
    add_quotient(states[i]->parameter, numerator, roots[i], 1.0);
  }
}

void Adagrad::update_each(const States& states) {
  Variable root;
  Variable grad;
  for (ParameterState* state : states) {
    replace_gradient(grad, state->parameter, rule());
    advance(*state);
    blend_squares(state->tensors[kAdagradSum], grad, 1.0, 1.0);
    root = new_root(*state);
    add_quotient(state->parameter, grad, root, -step_size(*state));
  }
}

}  // namespace ohm::optim
