#include "runtime/optim/adam.h"

#include <fmt/core.h>

#include <cmath>
#include <stdexcept>

#include "runtime/optim/update_kernel.h"

namespace ohm::optim {

Adam::Adam(std::vector<Tensor> parameters, const AdamOptions& options)
    : Optimizer(std::move(parameters), options.lr), options_(options) {
  for (const double beta : {options.beta1, options.beta2}) {
    if (!(beta >= 0.0 && beta < 1.0)) {
      throw std::invalid_argument(fmt::format("[{}] invalid beta: {}", type_name(), beta));
    }
  }
}

void Adam::update(const std::vector<Tensor>& parameters) {
  // All state is there before the first parameter changes.
  for (const Tensor& parameter : parameters) state_of(parameter);
  switch (options_.form) {
    case Form::foreach_list:
      return update_list(parameters);
    case Form::for_loop:
      return update_one_by_one(parameters);
    case Form::fused:
      return update_fused(parameters);
  }
}

Adam::State& Adam::state_of(const Tensor& parameter) {
  State& state = states_[parameter.impl()];
  if (state.exp_avg.defined()) return state;
  const Device device = options_.form == Form::fused ? parameter.device() : Device::cpu();
  state.step = empty({}, {DType::float32, device});
  fill_values(state.step, 0.0);
  state.exp_avg = zeros_like(parameter);
  state.exp_avg_sq = zeros_like(parameter);
  if (options_.amsgrad) state.max_exp_avg_sq = zeros_like(parameter);
  return state;
}

Adam::Correction Adam::advance(State& state) const {
  ++state.steps;
  fill_values(state.step, static_cast<double>(state.steps));
  const auto step = static_cast<double>(state.steps);
  return {learning_rate() / (1.0 - std::pow(options_.beta1, step)),
          std::sqrt(1.0 - std::pow(options_.beta2, step))};
}

void Adam::update_moments(State& state, const Tensor& parameter, const Tensor& grad) const {
  if (options_.decay == WeightDecay::decoupled && options_.weight_decay != 0.0) {
    const double factor = 1.0 - learning_rate() * options_.weight_decay;
    ohm::optim::update(parameter,
                       [factor](auto p) { return p * static_cast<decltype(p)>(factor); });
  }
  update_with(state.exp_avg, grad, [beta = options_.beta1](auto m, auto g) {
    return m + static_cast<decltype(m)>(1.0 - beta) * (g - m);
  });
  update_with(state.exp_avg_sq, grad, [beta = options_.beta2](auto v, auto g) {
    using T = decltype(v);
    return static_cast<T>(beta) * v + static_cast<T>(1.0 - beta) * g * g;
  });
  if (options_.amsgrad) raise_maximum(state);
}

void Adam::raise_maximum(State& state) const {
  update_with(state.max_exp_avg_sq, state.exp_avg_sq,
              [](auto largest, auto v) { return largest > v ? largest : v; });
}

const Tensor& Adam::second_moment(const State& state) const {
  return options_.amsgrad ? state.max_exp_avg_sq : state.exp_avg_sq;
}

void Adam::apply(const Tensor& parameter, const State& state, const Tensor& denominator,
                 double step_size) const {
  update_with(parameter, state.exp_avg, denominator, [step_size](auto p, auto m, auto d) {
    return p - static_cast<decltype(p)>(step_size) * m / d;
  });
}

void Adam::update_list(const std::vector<Tensor>& parameters) {
  const bool is_coupled = options_.decay == WeightDecay::coupled;
  const GradientRule rule{is_coupled ? options_.weight_decay : 0.0, options_.maximize};
  std::vector<Correction> corrections;
  {
    // The changed gradients go before the list of square roots is made.
    TensorList grads;
    for (const Tensor& parameter : parameters) grads.push_back(effective_gradient(parameter, rule));
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      State& state = state_of(parameters[i]);
      corrections.push_back(advance(state));
      update_moments(state, parameters[i], grads[i]);
    }
  }
  TensorList denominators;
  for (const Tensor& parameter : parameters) {
    denominators.push_back(
        new_from(second_moment(state_of(parameter)), [](auto v) { return std::sqrt(v); }));
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    ohm::optim::update(denominators[i], [&](auto root) {
      using T = decltype(root);
      return root / static_cast<T>(corrections[i].sqrt_second) + static_cast<T>(options_.eps);
    });
    apply(parameters[i], state_of(parameters[i]), denominators[i], corrections[i].step_size);
  }
}

void Adam::update_one_by_one(const std::vector<Tensor>& parameters) {
  const bool is_coupled = options_.decay == WeightDecay::coupled;
  const GradientRule rule{is_coupled ? options_.weight_decay : 0.0, options_.maximize};
  for (const Tensor& parameter : parameters) {
    State& state = state_of(parameter);
    const Tensor grad = effective_gradient(parameter, rule);
    const Correction correction = advance(state);
    update_moments(state, parameter, grad);
    Tensor root = new_from(second_moment(state), [](auto v) { return std::sqrt(v); });
    const Tensor quotient = new_from(
        root, [&](auto r) { return r / static_cast<decltype(r)>(correction.sqrt_second); });
    root = Tensor();
    ohm::optim::update(quotient,
                       [&](auto q) { return q + static_cast<decltype(q)>(options_.eps); });
    apply(parameter, state, quotient, correction.step_size);
  }
}

// One kernel reads gradient, parameter and state and changes what it reads in its registers.
void Adam::update_fused(const std::vector<Tensor>& parameters) {
  const bool is_coupled = options_.decay == WeightDecay::coupled;
  const double sign = options_.maximize ? -1.0 : 1.0;
  const double coupled = is_coupled ? options_.weight_decay : 0.0;
  const double decoupled = is_coupled ? 1.0 : 1.0 - learning_rate() * options_.weight_decay;
  const auto gradient = [=](auto g, auto p) {
    using T = decltype(g);
    return static_cast<T>(sign) * g + static_cast<T>(coupled) * p;
  };
  for (const Tensor& parameter : parameters) {
    State& state = state_of(parameter);
    const Correction correction = advance(state);
    const Tensor grad = parameter.grad();
    update_with(state.exp_avg, grad, parameter, [&](auto m, auto g, auto p) {
      return m + static_cast<decltype(m)>(1.0 - options_.beta1) * (gradient(g, p) - m);
    });
    update_with(state.exp_avg_sq, grad, parameter, [&](auto v, auto g, auto p) {
      using T = decltype(v);
      const T changed = gradient(g, p);
      return static_cast<T>(options_.beta2) * v +
             static_cast<T>(1.0 - options_.beta2) * changed * changed;
    });
    if (options_.amsgrad) raise_maximum(state);
    update_with(parameter, state.exp_avg, second_moment(state), [&](auto p, auto m, auto v) {
      using T = decltype(p);
      const T denominator = static_cast<T>(std::sqrt(v)) / static_cast<T>(correction.sqrt_second) +
                            static_cast<T>(options_.eps);
      return p * static_cast<T>(decoupled) - static_cast<T>(correction.step_size) * m / denominator;
    });
  }
}

}  // namespace ohm::optim
