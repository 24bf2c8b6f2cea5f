#include "runtime/nn/recurrent.h"
#include "runtime/nn/new_parameter.h"

#include <fmt/core.h>

#include <cmath>
#include <stdexcept>
#include <utility>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/autocast_guard.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/view.h"
#include "runtime/tensor/context.h"

namespace ohm::nn {
Recurrent::Recurrent(Kind kind, std::int64_t input_size, std::int64_t hidden_size,
                     const RecurrentOptions& options, const ParameterOptions& parameters)
    : kind_(kind), input_size_(input_size), hidden_size_(hidden_size), options_(options) {
  if (input_size <= 0 || hidden_size <= 0 || options.layers <= 0) {
    throw std::invalid_argument(
        fmt::format("[{}] input_size {}, hidden_size {} and num_layers {} must be positive",
                    type_name(), input_size, hidden_size, options.layers));
  }
  const std::int64_t gates = gates_of(kind);
  const std::int64_t directions = options.is_bidirectional ? 2 : 1;
  const double bound = 1.0 / std::sqrt(static_cast<double>(hidden_size));
  const auto add = [&](const char* name, const std::string& where, const Shape& shape,
                       bool is_there) {
    add_parameter(name + where, is_there ? uniform_parameter(shape, bound, parameters) : Tensor());
  };
  Tensor unused_input_bias;
  Tensor unused_hidden_bias;
  for (std::int64_t layer = 0; layer < options.layers; ++layer) {
    for (std::int64_t direction = 0; direction < directions; ++direction) {
      const std::string where = fmt::format("_l{}{}", layer, direction == 0 ? "" : "_reverse");
      const std::int64_t width = layer == 0 ? input_size : hidden_size * directions;
      add("weight_ih", where, {gates * hidden_size, width}, true);
      add("weight_hh", where, {gates * hidden_size, hidden_size}, true);
      add("bias_ih", where, {gates * hidden_size}, options.has_bias);
      add("bias_hh", where, {gates * hidden_size}, options.has_bias);
      // PyTorch makes the biases also where the layer is to have none, and lets them go then.
      if (options.has_bias) continue;
      unused_input_bias = constant_parameter({gates * hidden_size}, 0.0, parameters);
      unused_hidden_bias = constant_parameter({gates * hidden_size}, 0.0, parameters);
    }
  }
  flatten_parameters();
  unused_input_bias = Tensor();
}

Recurrent::~Recurrent() { drop_parameters_from_the_last(); }

std::string_view Recurrent::type_name() const {
  if (kind_ == Kind::lstm) return "LSTM";
  return kind_ == Kind::gru ? "GRU" : "RNN";
}

std::vector<Tensor> Recurrent::weights() const {
  std::vector<Tensor> weights;
  for (std::int64_t i = 0; i < parts() * kWeightsOfPart; ++i) {
    weights.push_back(own_parameter(static_cast<std::size_t>(i)));
  }
  return weights;
}

ops::RecurrentGeometry Recurrent::geometry() const {
  return {gates_of(kind_), options_.layers, options_.is_bidirectional ? 2 : 1,
          input_size_,     hidden_size_,    options_.has_bias};
}

// A parameter that is computed of others is none that could lie in a buffer.
void Recurrent::flatten_parameters() {
  if (computed_parameters().empty()) ops::flatten_recurrent_weights(weights(), geometry());
}

RecurrentSteps::Options Recurrent::steps_options() const {
  return {kind_, options_.layers, options_.is_bidirectional, options_.dropout, is_training()};
}

Recurrent::State Recurrent::given_states(const std::vector<Value>& inputs, const Tensor& like,
                                         std::int64_t batch) const {
  const Shape shape{parts(), batch, hidden_size_};
  const auto given = [&](std::size_t i) {
    if (i >= inputs.size()) return zeros(shape, options_of(like));
    const Tensor* state = std::get_if<Tensor>(&inputs[i]);
    if (state == nullptr || !(state->shape() == shape)) {
      throw std::invalid_argument(
          fmt::format("[{}] expected a first state of shape {}", type_name(), shape.str()));
    }
    return *state;
  };
  Tensor hidden = given(1);
  return {std::move(hidden), kind_ == Kind::lstm ? given(2) : Tensor()};
}

std::vector<Tensor> Recurrent::run_cudnn(const Tensor& input, const State& first,
                                         const std::vector<std::int64_t>& sizes) const {
  const auto compute = [options = steps_options(), sizes](const ops::RecurrentInputs& inputs) {
    const RecurrentSteps steps(options, inputs.weights);
    const State state{inputs.hidden, inputs.cell};
    return sizes.empty() ? steps.run(inputs.input, state)
                         : steps.run_packed(inputs.input, sizes, state);
  };
  return ops::cudnn_recurrent({input, first.hidden, first.cell, weights()},
                              {geometry(), options_.is_batch_first && sizes.empty(), is_training(),
                               options_.dropout, sizes, compute});
}

std::vector<Tensor> Recurrent::run(const Tensor& given, const State& first) const {
  if (ops::is_recurrent_done_by_cudnn(given)) return run_cudnn(given, first, {});
  const Tensor input = options_.is_batch_first ? ops::transpose(given, 0, 1) : given;
  std::vector<Tensor> results = RecurrentSteps(steps_options(), weights()).run(input, first);
  if (options_.is_batch_first) results[0] = ops::transpose(results[0], 0, 1);
  return results;
}

void Recurrent::require_dtype_of_weights(const Tensor& input) const {
  const DType dtype = own_parameter(0).dtype();
  if (input.dtype() == dtype || autocast_settings().is_enabled) return;
  throw std::invalid_argument(
      fmt::format("RNN input dtype ({}) does not match weight dtype ({}). Convert input: "
                  "input:to(ohm.{}), or convert model: model:to(ohm.{})",
                  name_of(input.dtype()), name_of(dtype), name_of(dtype), name_of(input.dtype())));
}

Value Recurrent::forward(const std::vector<Value>& inputs) {
  const bool is_packed = !inputs.empty() && std::holds_alternative<std::vector<Tensor>>(inputs[0]);
  if (is_packed) return forward_packed(inputs);
  // (h_0, c_0) in a list, as PyTorch has them.
  const auto* pair = inputs.size() == 2 && kind_ == Kind::lstm
                         ? std::get_if<std::vector<Tensor>>(&inputs[1])
                         : nullptr;
  if (pair != nullptr && pair->size() == 2) return forward({inputs[0], (*pair)[0], (*pair)[1]});
  const std::size_t most = kind_ == Kind::lstm ? 3 : 2;
  const Tensor* given = inputs.empty() ? nullptr : std::get_if<Tensor>(&inputs[0]);
  if (given == nullptr || inputs.size() > most || given->dims() != 3 ||
      given->size(2) != input_size_) {
    throw std::invalid_argument(
        fmt::format("[{}] takes an input [{}, {}] and maybe first states", type_name(),
                    options_.is_batch_first ? "batch, time" : "time, batch", input_size_));
  }
  State first = given_states(inputs, *given, given->size(options_.is_batch_first ? 0 : 1));
  require_dtype_of_weights(*given);
  std::vector<Tensor> results = run(*given, first);
  first.drop();
  return results;
}

// ---- sequences of several lengths ---------------------------------------------------------------

Value Recurrent::forward_packed(const std::vector<Value>& inputs) {
  const auto& parts = std::get<std::vector<Tensor>>(inputs[0]);
  const auto* const numbers =
      inputs.size() > 1 ? std::get_if<std::vector<double>>(&inputs[1]) : nullptr;
  const auto* const pair = inputs.size() == 3 && kind_ == Kind::lstm
                               ? std::get_if<std::vector<Tensor>>(&inputs[2])
                               : nullptr;
  const bool is_input = !parts.empty() && parts[0].dims() == 2 && parts[0].size(1) == input_size_;
  if (numbers == nullptr || numbers->empty() || !is_input) {
    throw std::invalid_argument(
        fmt::format("[{}] takes a packed sequence of elements [{}] and maybe first states",
                    type_name(), input_size_));
  }
  const std::vector<std::int64_t> sizes(numbers->begin(), numbers->end());
  std::vector<Value> given(inputs.begin() + 1, inputs.end());
  if (pair != nullptr && pair->size() == 2) given = {Value(), (*pair)[0], (*pair)[1]};
  State first = given_states(given, parts[0], sizes.front());
  require_dtype_of_weights(parts[0]);
  const bool is_sorted = parts.size() == 3;
  if (is_sorted && given.size() > 1) first = permuted(first, parts[1]);
  std::vector<Tensor> results =
      ops::is_recurrent_done_by_cudnn(parts[0])
          ? run_cudnn(parts[0], first, sizes)
          : RecurrentSteps(steps_options(), weights()).run_packed(parts[0], sizes, first);
  if (is_sorted) {
    std::vector<Tensor> sorted(results.begin() + 1, results.end());
    for (std::size_t i = 1; i < results.size(); ++i) {
      results[i] = ops::index_select(results[i], 1, parts[2]);
    }
    first.drop();
    while (!sorted.empty()) sorted.pop_back();
  }
  first.drop();
  return results;
}

Recurrent::State Recurrent::permuted(const State& state, const Tensor& order) {
  Tensor hidden = ops::index_select(state.hidden, 1, order);
  return {std::move(hidden),
          state.cell.defined() ? ops::index_select(state.cell, 1, order) : Tensor()};
}

// ---- one step -----------------------------------------------------------------------------------

RecurrentCell::RecurrentCell(Recurrent::Kind kind, std::int64_t input_size,
                             std::int64_t hidden_size, bool has_bias,
                             const ParameterOptions& parameters)
    : kind_(kind), input_size_(input_size), hidden_size_(hidden_size) {
  if (input_size <= 0 || hidden_size <= 0) {
    throw std::invalid_argument(
        fmt::format("[{}] input_size {} and hidden_size {} must be positive", type_name(),
                    input_size, hidden_size));
  }
  const std::int64_t gates = gates_of(kind);
  const double bound = 1.0 / std::sqrt(static_cast<double>(hidden_size));
  const auto add = [&](const char* name, const Shape& shape, bool is_there) {
    add_parameter(name, is_there ? uniform_parameter(shape, bound, parameters) : Tensor());
  };
  add("weight_ih", {gates * hidden_size, input_size}, true);
  add("weight_hh", {gates * hidden_size, hidden_size}, true);
  add("bias_ih", {gates * hidden_size}, has_bias);
  add("bias_hh", {gates * hidden_size}, has_bias);
}

std::string_view RecurrentCell::type_name() const {
  if (kind_ == Recurrent::Kind::lstm) return "LSTMCell";
  return kind_ == Recurrent::Kind::gru ? "GRUCell" : "RNNCell";
}

Value RecurrentCell::forward(const std::vector<Value>& inputs) {
  const bool is_lstm = kind_ == Recurrent::Kind::lstm;
  // (h, c) in a list, as PyTorch has them.
  const auto* const pair =
      inputs.size() == 2 && is_lstm ? std::get_if<std::vector<Tensor>>(&inputs[1]) : nullptr;
  if (pair != nullptr && pair->size() == 2) return forward({inputs[0], (*pair)[0], (*pair)[1]});
  const Tensor* input = inputs.empty() ? nullptr : std::get_if<Tensor>(&inputs[0]);
  if (input == nullptr || inputs.size() > (is_lstm ? 3U : 2U) || input->dims() != 2 ||
      input->size(1) != input_size_) {
    throw std::invalid_argument(
        fmt::format("[{}] takes an input [batch, {}] and maybe a state", type_name(), input_size_));
  }
  const Shape shape{input->size(0), hidden_size_};
  const Tensor nothing = inputs.size() > 1 ? Tensor() : zeros(shape, options_of(*input));
  const auto part = [&](std::size_t i) {
    if (i >= inputs.size()) {
      return nothing.defined() ? nothing : zeros(shape, options_of(*input));
    }
    const Tensor* state = std::get_if<Tensor>(&inputs[i]);
    if (state == nullptr || !(state->shape() == shape)) {
      throw std::invalid_argument(
          fmt::format("[{}] expected a state of shape {}", type_name(), shape.str()));
    }
    return *state;
  };
  const RecurrentState state{part(1), is_lstm ? part(2) : Tensor()};
  const RecurrentWeights weights{own_parameter(0), own_parameter(1), if_defined(own_parameter(2)),
                                 if_defined(own_parameter(3))};
  const RecurrentState next = recurrent_step(kind_, *input, state, weights);
  if (!is_lstm) return next.hidden;
  return std::vector<Tensor>{next.hidden, next.cell};
}

}  // namespace ohm::nn
