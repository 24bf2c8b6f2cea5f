#include "runtime/optim/sgd.h"

#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/update.h"

namespace ohm::optim {

Sgd::Sgd(std::vector<Tensor> parameters, const SgdOptions& options)
    : Optimizer(std::move(parameters), options.lr, options.form), options_(options) {
  if (options.nesterov && (options.momentum <= 0.0 || options.dampening != 0.0)) {
    throw std::invalid_argument("[SGD] nesterov requires a momentum and zero dampening");
  }
}

void Sgd::update_each(const States& states) {
  Tensor grad;
  for (ParameterState* state : states) {
    set_gradient(grad, state->parameter, rule());
    if (options_.momentum != 0.0) {
      const Tensor& buffer = move_momentum(*state, grad);
      const functors::ScaledSum ahead{options_.momentum};
      grad = options_.nesterov ? new_from(grad, buffer, ahead) : buffer;
    }
    apply(state->parameter, grad);
  }
}

void Sgd::update_list(const States& states) {
  TemporaryList grads(states.size());
  set_gradients(grads, states, rule());
  if (options_.momentum == 0.0) {
    for (std::size_t i = 0; i < states.size(); ++i) apply(states[i]->parameter, grads[i]);
    return;
  }
  for (std::size_t i = 0; i < states.size(); ++i) move_momentum(*states[i], grads[i]);
  // The gradients themselves become the look-ahead directions; without nesterov the list goes.
  if (options_.nesterov) {
    for (std::size_t i = 0; i < states.size(); ++i) {
      add_scaled(grads[i], states[i]->tensors[0], options_.momentum);
    }
  } else {
    grads.clear();
  }
  for (std::size_t i = 0; i < states.size(); ++i) {
    apply(states[i]->parameter, options_.nesterov ? grads[i] : states[i]->tensors[0]);
  }
}

void Sgd::update_fused(const States& states) {
  for (ParameterState* state : states) {
    const Tensor& parameter = state->parameter;
    const functors::UsedGradient gradient{options_.maximize ? -1.0 : 1.0, options_.weight_decay};
    const Tensor grad = parameter.grad();
    if (options_.momentum == 0.0) {
      update_with(parameter, grad, functors::FusedSgdStep{gradient, learning_rate()});
      continue;
    }
    Tensor& buffer = state->tensors[0];
    if (buffer.defined()) {
      update_with(buffer, grad, parameter,
                  functors::FusedMomentum{gradient, options_.momentum, 1.0 - options_.dampening});
    } else {
      buffer = empty_like(grad);
      update_with(buffer, grad, parameter, functors::FusedFirstMomentum{gradient});
    }
    update_with(parameter, grad, buffer,
                functors::FusedMomentumStep{gradient, learning_rate(), options_.momentum,
                                            options_.nesterov});
  }
}

const Tensor& Sgd::move_momentum(ParameterState& state, const Tensor& grad) const {
  Tensor& buffer = state.tensors[0];
  if (!buffer.defined()) {
    buffer = copy_of(grad);
    return buffer;
  }
  update_with(buffer, grad, functors::WeightedSum{options_.momentum, 1.0 - options_.dampening});
  return buffer;
}

void Sgd::apply(const Tensor& parameter, const Tensor& direction) const {
  add_scaled(parameter, direction, -learning_rate());
}

}  // namespace ohm::optim
