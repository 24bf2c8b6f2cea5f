#include "runtime/optim/rprop.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/generators.h"
#include "runtime/kernels/functors/update.h"

namespace ohm::optim {
namespace {

enum RpropSlot : std::size_t { kRpropStep, kRpropPrevious, kRpropStepSize };

Tensor new_sign(const Tensor& a) { return new_from(a, functors::Sign()); }

// What a comparison makes: one byte an element.
Tensor new_mask(const Tensor& a) { return empty(a.shape(), {DType::boolean, a.device()}); }

Tensor new_product(const Tensor& a, const Tensor& b) { return new_from(a, b, functors::Product()); }

void copy_values(const Tensor& target, const Tensor& source, double factor) {
  update_with(target, source, functors::Replaced{factor});
}

void descend(const ParameterState& state, const Tensor& sign) {
  update_with(state.parameter, sign, state.tensors[kRpropStepSize], functors::Addcmul{-1.0});
}

}  // namespace

Rprop::Rprop(std::vector<Tensor> parameters, const RpropOptions& options)
    : Optimizer(std::move(parameters), options.lr, options.form), options_(options) {
  if (0.0 < options.eta_minus && options.eta_minus < 1.0 && 1.0 < options.eta_plus) return;
  throw std::invalid_argument(
      fmt::format("[Rprop] invalid etas: {} and {} (expected one between 0 and 1, and one above 1)",
                  options.eta_minus, options.eta_plus));
}

void Rprop::make_state(ParameterState& state) {
  state.tensors[kRpropStep] = step_count(Device::cpu());
  state.tensors[kRpropPrevious] = zeros_like(state.parameter);
  state.tensors[kRpropStepSize] = empty_like(state.parameter);
  fill_values(state.tensors[kRpropStepSize], learning_rate());
}

void Rprop::turn_into_factors(const Tensor& signs) const {
  for (int i = 0; i < 3; ++i) new_mask(signs);
  update(signs, functors::FactorOfSign{options_.eta_plus, options_.eta_minus});
}

void Rprop::scale_step_size(const ParameterState& state, const Tensor& factors) const {
  update_with(state.tensors[kRpropStepSize], factors,
              functors::ClampedProduct{options_.step_size_min, options_.step_size_max});
}

void Rprop::drop_turned(const Tensor& grad, const Tensor& factors) const {
  update_with(grad, factors, functors::DroppedWhere{options_.eta_minus});
}

void Rprop::update_list(const States& states) {
  // In the reverse of the order in which Python's frame lets them go.
  TemporaryList grad_signs(states.size());
  Tensor last_signs;
  TemporaryList signs(states.size());
  const double direction = options_.maximize ? -1.0 : 1.0;
  for (ParameterState* state : states) {
    advance(*state);
    signs.push_back(new_product(state->parameter.grad(), state->tensors[kRpropPrevious]));
    multiply(signs[signs.size() - 1], direction);
  }
  for (std::size_t i = 0; i < states.size(); ++i) {
    copy_values(states[i]->tensors[kRpropPrevious], states[i]->parameter.grad(), direction);
    update(signs[i], functors::Sign());
  }
  for (std::size_t i = 0; i < states.size(); ++i) turn_into_factors(signs[i]);
  last_signs = signs[signs.size() - 1];
  for (std::size_t i = 0; i < states.size(); ++i) {
    scale_step_size(*states[i], signs[i]);
  }
  for (std::size_t i = 0; i < states.size(); ++i) {
    const Tensor& grad = states[i]->tensors[kRpropPrevious];
    Tensor mask = new_mask(grad);
    Tensor zero = empty({}, {grad.dtype(), grad.device()});
    const Tensor chosen = empty_like(grad);
    zero = Tensor();
    mask = Tensor();
    drop_turned(grad, signs[i]);
  }
  signs.clear();
  for (const ParameterState* state : states) {
    grad_signs.push_back(new_sign(state->tensors[kRpropPrevious]));
  }
  for (std::size_t i = 0; i < states.size(); ++i) descend(*states[i], grad_signs[i]);
}

void Rprop::update_each(const States& states) {
  Variable signs;
  Variable grad;
  for (ParameterState* state : states) {
    replace_gradient(grad, state->parameter, {0.0, options_.maximize});
    advance(*state);
    {
      Tensor product = new_product(grad, state->tensors[kRpropPrevious]);
      Tensor made = new_sign(product);
      product = Tensor();
      signs = std::move(made);
    }
    turn_into_factors(signs);
    scale_step_size(*state, signs);
    grad = new_from(grad, functors::Copy());
    new_mask(signs);
    drop_turned(grad, signs);
    descend(*state, new_sign(grad));
    copy_values(state->tensors[kRpropPrevious], grad, 1.0);
  }
}

}  // namespace ohm::optim
