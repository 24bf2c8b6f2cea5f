#include "runtime/optim/sgd.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "runtime/arithmetic/copy.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/update.h"

namespace ohm::optim {

// In PyTorch they are a parameter's when all parameters have moved: a step that fails leaves none.
class Sgd::NewMomenta {
 public:
  enum class Last : std::uint8_t { in_the_list, in_a_variable };
  explicit NewMomenta(Last last) : last_(last) {}
  NewMomenta(const NewMomenta&) = delete;
  NewMomenta& operator=(const NewMomenta&) = delete;
  ~NewMomenta() {
    if (!end_.is_by_error() || made_.empty()) return;
    std::reverse(made_.begin(), made_.end());
    if (last_ == Last::in_a_variable) std::rotate(made_.begin(), made_.begin() + 1, made_.end());
    for (Tensor* const buffer : made_) EndedUpdate::add(std::exchange(*buffer, Tensor()));
  }

  void add(Tensor& buffer) { made_.push_back(&buffer); }

 private:
  std::vector<Tensor*> made_;
  Last last_;
  ScopeEnd end_;
};

Sgd::Sgd(std::vector<Tensor> parameters, const SgdOptions& options)
    : Optimizer(std::move(parameters), options.lr, options.form), options_(options) {
  if (options.nesterov && (options.momentum <= 0.0 || options.dampening != 0.0)) {
    throw std::invalid_argument("[SGD] nesterov requires a momentum and zero dampening");
  }
}

void Sgd::update_each(const States& states) {
  NewMomenta made(NewMomenta::Last::in_the_list);
  Variable grad;
  for (ParameterState* state : states) {
    set_gradient(grad, state->parameter, rule());
    if (options_.momentum != 0.0) {
      const Tensor& buffer = move_momentum(*state, grad, made);
      const functors::ScaledSum ahead{options_.momentum};
      grad = options_.nesterov ? new_from(grad, buffer, ahead) : buffer;
    }
    apply(state->parameter, grad);
  }
}

void Sgd::update_list(const States& states) {
  NewMomenta made(NewMomenta::Last::in_a_variable);
  TemporaryList grads(states.size());
  set_gradients(grads, states, rule());
  if (options_.momentum == 0.0) {
    for (std::size_t i = 0; i < states.size(); ++i) apply(states[i]->parameter, grads[i]);
    return;
  }
  for (std::size_t i = 0; i < states.size(); ++i) move_momentum(*states[i], grads[i], made);
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

// The new buffers are there before the first parameter moves.
void Sgd::update_fused(const States& states) {
  NewMomenta made(NewMomenta::Last::in_the_list);
  std::vector<bool> is_first;
  for (ParameterState* state : states) {
    is_first.push_back(options_.momentum != 0.0 && !state->tensors[0].defined());
    if (!is_first.back()) continue;
    state->tensors[0] = empty_like(state->parameter.grad());
    made.add(state->tensors[0]);
  }
  for (std::size_t i = 0; i < states.size(); ++i) move_fused(*states[i], is_first[i]);
}

void Sgd::move_fused(const ParameterState& state, bool is_first) const {
  const Tensor& parameter = state.parameter;
  const functors::UsedGradient gradient{options_.maximize ? -1.0 : 1.0, options_.weight_decay};
  const Tensor grad = parameter.grad();
  if (options_.momentum == 0.0) {
    update_with(parameter, grad, functors::FusedSgdStep{gradient, learning_rate()});
    return;
  }
  const Tensor& buffer = state.tensors[0];
  if (is_first) {
    update_with(buffer, grad, parameter, functors::FusedFirstMomentum{gradient});
  } else {
    update_with(buffer, grad, parameter,
                functors::FusedMomentum{gradient, options_.momentum, 1.0 - options_.dampening});
  }
  update_with(
      parameter, grad, buffer,
      functors::FusedMomentumStep{gradient, learning_rate(), options_.momentum, options_.nesterov});
}

const Tensor& Sgd::move_momentum(ParameterState& state, const Tensor& grad,
                                 NewMomenta& made) const {
  Tensor& buffer = state.tensors[0];
  if (!buffer.defined()) {
    buffer = copy_of(grad);
    made.add(buffer);
    return buffer;
  }
  update_with(buffer, grad, functors::WeightedSum{options_.momentum, 1.0 - options_.dampening});
  return buffer;
}

void Sgd::apply(const Tensor& parameter, const Tensor& direction) const {
  add_scaled(parameter, direction, -learning_rate());
}

}  // namespace ohm::optim
