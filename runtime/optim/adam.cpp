#include "runtime/optim/adam.h"

#include <cmath>
#include <stdexcept>

#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/update.h"

namespace ohm::optim {
namespace {

enum AdamSlot : std::size_t { kAdamStep, kAdamExpAvg, kAdamExpAvgSq, kAdamMaxExpAvgSq };

// One scalar for each parameter, on its device.
void fill_scalars(TemporaryList& scalars, const std::vector<ParameterState*>& states) {
  for (const ParameterState* state : states)
    scalars.push_back(empty_like(state->tensors[kAdamStep]));
}

}  // namespace

Adam::Adam(std::vector<Tensor> parameters, const AdamOptions& options)
    : Optimizer(std::move(parameters), options.lr, options.form), options_(options) {
  require_beta(options.beta1, type_name());
  require_beta(options.beta2, type_name());
  if (options.capturable && options.form != Form::foreach_list) {
    throw std::invalid_argument("[Adam] capturable is there for the foreach form alone");
  }
}

std::vector<std::string_view> Adam::state_names() const {
  std::vector<std::string_view> names = {"step", "exp_avg", "exp_avg_sq"};
  if (options_.amsgrad) names.emplace_back("max_exp_avg_sq");
  return names;
}

void Adam::make_state(ParameterState& state) {
  state.tensors[kAdamStep] =
      step_count(counts_on_device() ? state.parameter.device() : Device::cpu());
  for (std::size_t slot = kAdamExpAvg; slot < state.tensors.size(); ++slot) {
    state.tensors[slot] = zeros_like(state.parameter);
  }
}

GradientRule Adam::rule() const {
  const bool is_coupled = options_.decay == WeightDecay::coupled;
  return {is_coupled ? options_.weight_decay : 0.0, options_.maximize};
}

Adam::Correction Adam::correction(const ParameterState& state) const {
  const auto step = static_cast<double>(state.steps);
  return {learning_rate() / (1.0 - std::pow(options_.beta1, step)),
          std::sqrt(1.0 - std::pow(options_.beta2, step))};
}

void Adam::shrink(const Tensor& parameter) const {
  if (options_.decay == WeightDecay::coupled || options_.weight_decay == 0.0) return;
  multiply(parameter, 1.0 - learning_rate() * options_.weight_decay);
}

void Adam::update_moments(const ParameterState& state, const Tensor& grad) const {
  shrink(state.parameter);
  blend(state.tensors[kAdamExpAvg], grad, 1.0 - options_.beta1);
  blend_squares(state.tensors[kAdamExpAvgSq], grad, options_.beta2, 1.0 - options_.beta2);
  raise_maximum(state);
}

void Adam::raise_maximum(const ParameterState& state) const {
  if (!options_.amsgrad) return;
  update_with(state.tensors[kAdamMaxExpAvgSq], state.tensors[kAdamExpAvgSq],
              [](auto largest, auto v) { return largest > v ? largest : v; });
}

const Tensor& Adam::second_moment(const ParameterState& state) const {
  return state.tensors[options_.amsgrad ? kAdamMaxExpAvgSq : kAdamExpAvgSq];
}

void Adam::update_list(const States& states) {
  {
    // The changed gradients go before the list of square roots is made.
    TemporaryList grads(states.size());
    set_gradients(grads, states, rule());
    for (std::size_t i = 0; i < states.size(); ++i) {
      advance(*states[i]);
      update_moments(*states[i], grads[i]);
    }
  }
  // In the reverse of the order in which Python's frame lets them go. Denominators stay until the
  // next list's are there.
  TemporaryList denominators(states.size());
  TemporaryList second_corrections(states.size());
  TemporaryList first_corrections(states.size());
  if (options_.capturable) {
    fill_scalars(first_corrections, states);
    fill_scalars(second_corrections, states);
  }
  for (const ParameterState* state : states) {
    denominators.push_back(new_sqrt(second_moment(*state)));
  }
  denominators_.clear();
  for (std::size_t i = 0; i < states.size(); ++i) {
    const Correction corrected = correction(*states[i]);
    update(denominators[i], functors::DividedAndShifted{corrected.sqrt_second, options_.eps});
    add_quotient(states[i]->parameter, states[i]->tensors[kAdamExpAvg], denominators[i],
                 -corrected.step_size);
  }
  denominators_.swap(denominators);
}

void Adam::update_each(const States& states) {
  Variable denominator;
  Variable grad;  // declared last: it goes first
  for (ParameterState* state : states) {
    set_gradient(grad, state->parameter, rule());
    advance(*state);
    update_moments(*state, grad);
    const Correction corrected = correction(*state);
    Tensor root = new_sqrt(second_moment(*state));
    Tensor quotient = new_from(root, functors::Divided{corrected.sqrt_second});
    root = Tensor();
    denominator = std::move(quotient);
    add_number(denominator, options_.eps);
    add_quotient(state->parameter, state->tensors[kAdamExpAvg], denominator, -corrected.step_size);
  }
}

void Adam::update_fused(const States& states) {
  for (ParameterState* state : states) update_one_fused(*state);
}

void Adam::update_one_fused(ParameterState& state) const {
  const functors::UsedGradient gradient{options_.maximize ? -1.0 : 1.0, rule().weight_decay};
  advance(state);
  const Correction corrected = correction(state);
  const Tensor& parameter = state.parameter;
  const Tensor grad = parameter.grad();
  update_with(state.tensors[kAdamExpAvg], grad, parameter,
              functors::FusedFirstMoment{gradient, 1.0 - options_.beta1});
  update_with(state.tensors[kAdamExpAvgSq], grad, parameter,
              functors::FusedSecondMoment{gradient, options_.beta2});
  raise_maximum(state);
  shrink(parameter);
  update_with(parameter, state.tensors[kAdamExpAvg], second_moment(state),
              functors::FusedAdamStep{corrected.step_size, corrected.sqrt_second, options_.eps});
}

}  // namespace ohm::optim
