#include "runtime/optim/adamax.h"

#include <cmath>

#include "runtime/kernels/functors/update.h"

namespace ohm::optim {
namespace {

enum AdamaxSlot : std::size_t { kAdamaxStep, kAdamaxExpAvg, kAdamaxExpInf };

}  // namespace

Adamax::Adamax(std::vector<Tensor> parameters, const AdamaxOptions& options)
    : Optimizer(std::move(parameters), options.lr, options.form), options_(options) {
  require_beta(options.beta1, "Adamax");
  require_beta(options.beta2, "Adamax");
}

void Adamax::make_state(ParameterState& state) {
  state.tensors[kAdamaxStep] = step_count(Device::cpu());
  state.tensors[kAdamaxExpAvg] = zeros_like(state.parameter);
  state.tensors[kAdamaxExpInf] = zeros_like(state.parameter);
}

void Adamax::update_norm(const ParameterState& state, const Tensor& magnitude) const {
  update_with(state.tensors[kAdamaxExpInf], magnitude, functors::DecayedMaximum{options_.beta2});
}

void Adamax::apply(const ParameterState& state) const {
  const double corrected =
      learning_rate() / (1.0 - std::pow(options_.beta1, static_cast<double>(state.steps)));
  add_quotient(state.parameter, state.tensors[kAdamaxExpAvg], state.tensors[kAdamaxExpInf],
               -corrected);
}

void Adamax::update_list(const States& states) {
  TemporaryList grads(states.size());
  set_gradients(grads, states, rule());
  for (std::size_t i = 0; i < states.size(); ++i) {
    advance(*states[i]);
    blend(states[i]->tensors[kAdamaxExpAvg], grads[i], 1.0 - options_.beta1);
  }
  // Gradients that are temporaries already become their own magnitudes.
  TemporaryList magnitudes(states.size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (rule().makes_temporaries()) {
      update(grads[i], functors::MagnitudePlus{options_.eps});
    } else {
      magnitudes.push_back(new_from(grads[i], functors::MagnitudePlus{options_.eps}));
    }
  }
  for (std::size_t i = 0; i < states.size(); ++i) {
    update_norm(*states[i], magnitudes.empty() ? grads[i] : magnitudes[i]);
    apply(*states[i]);
  }
}

void Adamax::update_each(const States& states) {
  Variable grad;
  for (ParameterState* state : states) {
    replace_gradient(grad, state->parameter, rule());
    advance(*state);
    blend(state->tensors[kAdamaxExpAvg], grad, 1.0 - options_.beta1);
    update_norm(*state, new_from(grad, functors::MagnitudePlus{options_.eps}));
    apply(*state);
  }
}

}  // namespace ohm::optim
