#include "runtime/optim/asgd.h"

#include <algorithm>
#include <cmath>

#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/update.h"

namespace ohm::optim {
namespace {

enum AsgdSlot : std::size_t { kAsgdStep, kAsgdEta, kAsgdMu, kAsgdAverage };

Tensor scalar_on(Device device) { return empty({}, {DType::float32, device}); }

// What the device allocates for lr / (1 + λ·lr·t)^α, a scalar for each operation.
Tensor formula_of_eta(Device device) {
  Tensor value = scalar_on(device);  // λ·lr·t
  for (int i = 0; i < 2; ++i) {      // 1 + …, …^α
    Tensor next = scalar_on(device);
    value = std::move(next);
  }
  const Tensor reciprocal = scalar_on(device);
  Tensor quotient = scalar_on(device);
  return quotient;
}

}  // namespace

Asgd::Asgd(std::vector<Tensor> parameters, const AsgdOptions& options)
    : Optimizer(std::move(parameters), options.lr, options.form), options_(options) {}

void Asgd::make_state(ParameterState& state) {
  const Device device = state.parameter.device();
  state.tensors[kAsgdStep] = step_count(device);
  {
    const Tensor given = scalar_on(device);
    state.tensors[kAsgdEta] = empty_like(given);
  }
  fill_values(state.tensors[kAsgdEta], learning_rate());
  state.tensors[kAsgdMu] = ones({}, {DType::float32, device});
  state.tensors[kAsgdAverage] = zeros_like(state.parameter);
}

double Asgd::eta_after(std::int64_t steps) const {
  if (steps == 0) return learning_rate();
  const double growth = 1.0 + options_.lambd * learning_rate() * static_cast<double>(steps);
  return learning_rate() / std::pow(growth, options_.alpha);
}

double Asgd::mu_after(std::int64_t steps) const {
  return 1.0 / std::max(1.0, static_cast<double>(steps) - options_.t0);
}

void Asgd::move_parameters(const States& states, TemporaryList& grads) const {
  const functors::ScaledSum add_share{options_.lambd};
  // g + λp, in place where the gradients are temporaries already.
  TemporaryList changed(states.size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (rule().weight_decay != 0.0) {
      update_with(grads[i], states[i]->parameter, add_share);
    } else {
      changed.push_back(new_from(grads[i], states[i]->parameter, add_share));
    }
  }
  for (std::size_t i = 0; i < states.size(); ++i) {
    const Tensor& direction = changed.empty() ? grads[i] : changed[i];
    add_scaled(states[i]->parameter, direction, -eta_after(states[i]->steps - 1));
  }
}

void Asgd::average(const States& states) const {
  TemporaryList differences(states.size());
  for (const ParameterState* state : states) {
    differences.push_back(
        new_from(state->parameter, state->tensors[kAsgdAverage], functors::Difference()));
  }
  for (std::size_t i = 0; i < states.size(); ++i) {
    add_scaled(states[i]->tensors[kAsgdAverage], differences[i], mu_after(states[i]->steps - 1));
  }
}

void Asgd::update_list(const States& states) {
  // In the reverse of the order in which Python's frame lets them go.
  TemporaryList etas(states.size());
  TemporaryList mus(states.size());
  TemporaryList grads(states.size());
  set_gradients(grads, states, rule());
  for (ParameterState* state : states) advance(*state);
  move_parameters(states, grads);
  if (!rule().maximize) grads.clear();
  average(states);
  for (const ParameterState* state : states) {
    etas.push_back(formula_of_eta(state->parameter.device()));
  }
  for (const ParameterState* state : states) mus.push_back(scalar_on(state->parameter.device()));
  for (const ParameterState* state : states) {
    fill_values(state->tensors[kAsgdEta], eta_after(state->steps));
    fill_values(state->tensors[kAsgdMu], mu_after(state->steps));
  }
}

void Asgd::update_each(const States& states) {
  Variable grad;
  for (ParameterState* state : states) {
    replace_gradient(grad, state->parameter, rule());
    advance(*state);
    const double eta = eta_after(state->steps - 1);
    const double mu = mu_after(state->steps - 1);
    multiply(state->parameter, 1.0 - options_.lambd * eta);
    add_scaled(state->parameter, grad, -eta);
    if (mu == 1.0) {
      update_with(state->tensors[kAsgdAverage], state->parameter, functors::Replaced{1.0});
    } else {
      average({state});
    }
    fill_values(state->tensors[kAsgdEta], eta_after(state->steps));
    fill_values(state->tensors[kAsgdMu], mu_after(state->steps));
  }
}

}  // namespace ohm::optim
