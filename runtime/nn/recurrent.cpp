#include "runtime/nn/recurrent.h"
#include "runtime/nn/new_parameter.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "runtime/arithmetic/factories.h"
#include "runtime/ops/activation.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/concat.h"
#include "runtime/ops/dropout.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/inplace_binary.h"
#include "runtime/ops/matmul.h"
#include "runtime/ops/recurrent_cell.h"
#include "runtime/ops/slice.h"
#include "runtime/ops/view.h"
#include "runtime/tensor/context.h"

namespace ohm::nn {
namespace {

std::int64_t gates_of(Recurrent::Kind kind) {
  if (kind == Recurrent::Kind::lstm) return 4;
  return kind == Recurrent::Kind::gru ? 3 : 1;
}

}  // namespace

struct Recurrent::Weights {
  Tensor input;
  Tensor hidden;
  std::optional<Tensor> input_bias;
  std::optional<Tensor> hidden_bias;
};

struct Recurrent::State {
  Tensor hidden;
  Tensor cell;  ///< of an LSTM

  // First states that nobody gave live as long as the call, in PyTorch's Python.
  void drop() {
    hidden = Tensor();
    cell = Tensor();
  }
};

struct Recurrent::Steps {
  std::vector<Tensor> outputs;
  State last;
};

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
  unused_input_bias = Tensor();
}

Recurrent::~Recurrent() { drop_parameters_from_the_last(); }

std::string_view Recurrent::type_name() const {
  if (kind_ == Kind::lstm) return "LSTM";
  return kind_ == Kind::gru ? "GRU" : "RNN";
}

Recurrent::Weights Recurrent::weights_of(std::size_t direction) const {
  constexpr std::size_t kTensors = 4;
  const std::size_t first = direction * kTensors;
  return {own_parameter(first), own_parameter(first + 1), if_defined(own_parameter(first + 2)),
          if_defined(own_parameter(first + 3))};
}

Recurrent::State Recurrent::step(Kind kind, const Tensor& input, const State& state,
                                 const Weights& weights) {
  if (kind == Kind::tanh || kind == Kind::relu) {
    const Tensor sum = ops::linear(state.hidden, weights.hidden, weights.hidden_bias);
    // Both parts live until the function of their sum is there.
    const Tensor input_part = ops::linear(input, weights.input, weights.input_bias);
    ops::add_(sum, input_part);
    return {kind == Kind::tanh ? ops::tanh(sum) : ops::relu(sum), Tensor()};
  }
  const Tensor input_gates = ops::matmul(input, ops::t(weights.input));
  const Tensor hidden_gates = ops::matmul(state.hidden, ops::t(weights.hidden));
  if (kind == Kind::gru) {
    return {ops::gru_cell(input_gates, hidden_gates, state.hidden, weights.input_bias,
                          weights.hidden_bias),
            Tensor()};
  }
  std::vector<Tensor> next = ops::lstm_cell(input_gates, hidden_gates, state.cell,
                                            weights.input_bias, weights.hidden_bias);
  return {std::move(next[0]), std::move(next[1])};
}

Recurrent::Steps Recurrent::run(const std::vector<Tensor>& inputs, const State& first,
                                const Weights& weights) const {
  Steps steps{{}, first};
  for (const Tensor& input : inputs) {
    steps.last = step(kind_, input, steps.last, weights);
    steps.outputs.push_back(steps.last.hidden);
  }
  return steps;
}

// `states`: those of all layers and directions; the layer's are replaced by its last ones.
Tensor Recurrent::run_layer(const Tensor& input, std::int64_t layer,
                            std::vector<State>& states) const {
  const std::size_t directions = options_.is_bidirectional ? 2 : 1;
  const std::size_t forward = static_cast<std::size_t>(layer) * directions;
  std::vector<Tensor> inputs = ops::unbind(input, 0);
  Steps steps = run(inputs, states[forward], weights_of(forward));
  const Tensor output = ops::stack(steps.outputs, 0);
  states[forward] = std::move(steps.last);
  if (!options_.is_bidirectional) return output;
  const std::size_t backward = forward + 1;
  std::reverse(inputs.begin(), inputs.end());
  Steps reversed = run(inputs, states[backward], weights_of(backward));
  std::reverse(reversed.outputs.begin(), reversed.outputs.end());
  const Tensor other = ops::stack(reversed.outputs, 0);
  states[backward] = std::move(reversed.last);
  return ops::cat({output, other}, output.dims() - 1);
}

Recurrent::State Recurrent::given_states(const std::vector<Value>& inputs, const Tensor& like,
                                         std::int64_t batch) const {
  const std::int64_t count = options_.layers * (options_.is_bidirectional ? 2 : 1);
  const Shape shape{count, batch, hidden_size_};
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

std::vector<Recurrent::State> Recurrent::states_of_layers(const State& given) const {
  const std::vector<Tensor> hiddens = ops::unbind(given.hidden, 0);
  const std::vector<Tensor> cells =
      given.cell.defined() ? ops::unbind(given.cell, 0) : std::vector<Tensor>(hiddens.size());
  std::vector<State> states;
  for (std::size_t i = 0; i < hiddens.size(); ++i) states.push_back({hiddens[i], cells[i]});
  return states;
}

// The cells are stacked before the hidden states, and go before them.
std::vector<Tensor> Recurrent::stacked(std::vector<State>& states) const {
  std::vector<Tensor> last_hidden;
  std::vector<Tensor> last_cells;
  for (State& state : states) {
    last_hidden.push_back(std::move(state.hidden));
    last_cells.push_back(std::move(state.cell));
  }
  const Tensor cells = kind_ == Kind::lstm ? ops::stack(last_cells, 0) : Tensor();
  std::vector<Tensor> results{ops::stack(last_hidden, 0)};
  if (cells.defined()) results.push_back(cells);
  return results;
}

void Recurrent::note_cudnn(const Tensor& input) const {
  Context& context = Context::current();
  if (input.device().is_cuda() && context.cudnn_enabled) {
    context.slot(input.device()).assumptions.add(Assumption::cudnn_recurrent);
  }
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
  note_cudnn(*given);
  const Tensor input = options_.is_batch_first ? ops::transpose(*given, 0, 1) : *given;
  State first = given_states(inputs, input, input.size(1));
  std::vector<State> states = states_of_layers(first);
  Tensor output = input;
  for (std::int64_t layer = 0; layer < options_.layers; ++layer) {
    output = run_layer(output, layer, states);
    if (layer + 1 < options_.layers) output = ops::dropout(output, options_.dropout, is_training());
  }
  std::vector<Tensor> results = stacked(states);
  results.insert(results.begin(), options_.is_batch_first ? ops::transpose(output, 0, 1) : output);
  first.drop();
  return results;
}

// ---- sequences of several lengths ---------------------------------------------------------------

struct Recurrent::Packed {
  Tensor data;
  const std::vector<std::int64_t>& sizes;
};

// A sequence that is over leaves its state behind: those of the shortest ones are put aside first.
Tensor Recurrent::run_packed(const Packed& input, State& state, const Weights& weights) const {
  std::vector<Tensor> outputs;
  std::vector<State> over;
  std::int64_t offset = 0;
  std::int64_t last_size = input.sizes.front();
  for (const std::int64_t size : input.sizes) {
    const Tensor step_input = ops::narrow(input.data, 0, offset, size);
    offset += size;
    if (size < last_size) {
      over.push_back(part_of(state, size, last_size - size));
      state = part_of(state, 0, size);
    }
    last_size = size;
    state = step(kind_, step_input, state, weights);
    outputs.push_back(state.hidden);
  }
  over.push_back(state);
  std::reverse(over.begin(), over.end());
  Tensor output = ops::cat(outputs, 0);
  state = joined(over);
  return output;
}

// The longest sequence begins alone; the others join it where they end.
Tensor Recurrent::run_packed_backwards(const Packed& input, State& state,
                                       const Weights& weights) const {
  const State first = state;
  std::vector<Tensor> outputs;
  std::int64_t offset = input.data.size(0);
  std::int64_t last_size = input.sizes.back();
  state = part_of(first, 0, last_size);
  for (auto size = input.sizes.rbegin(); size != input.sizes.rend(); ++size) {
    if (*size > last_size) {
      state = joined({state, part_of(first, last_size, *size - last_size)});
    }
    offset -= *size;
    const Tensor step_input = ops::narrow(input.data, 0, offset, *size);
    last_size = *size;
    state = step(kind_, step_input, state, weights);
    outputs.push_back(state.hidden);
  }
  std::reverse(outputs.begin(), outputs.end());
  return ops::cat(outputs, 0);
}

Recurrent::State Recurrent::part_of(const State& state, std::int64_t first, std::int64_t count) {
  const Tensor cell = state.cell.defined() ? ops::narrow(state.cell, 0, first, count) : Tensor();
  return {ops::narrow(state.hidden, 0, first, count), cell};
}

Recurrent::State Recurrent::joined(const std::vector<State>& states) {
  std::vector<Tensor> hiddens;
  std::vector<Tensor> cells;
  for (const State& state : states) {
    hiddens.push_back(state.hidden);
    cells.push_back(state.cell);
  }
  const Tensor cell = cells.front().defined() ? ops::cat(cells, 0) : Tensor();
  return {ops::cat(hiddens, 0), cell};
}

Tensor Recurrent::run_packed_layer(const Packed& input, std::int64_t layer,
                                   std::vector<State>& states) const {
  const std::size_t directions = options_.is_bidirectional ? 2 : 1;
  const std::size_t forward = static_cast<std::size_t>(layer) * directions;
  const Tensor output = run_packed(input, states[forward], weights_of(forward));
  if (!options_.is_bidirectional) return output;
  const std::size_t backward = forward + 1;
  const Tensor other = run_packed_backwards(input, states[backward], weights_of(backward));
  return ops::cat({output, other}, output.dims() - 1);
}

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
  note_cudnn(parts[0]);
  State first = given_states(given, parts[0], sizes.front());
  const bool is_sorted = parts.size() == 3;
  if (is_sorted && given.size() > 1) first = permuted(first, parts[1]);
  std::vector<State> states = states_of_layers(first);
  Packed input{parts[0], sizes};
  for (std::int64_t layer = 0; layer < options_.layers; ++layer) {
    input.data = run_packed_layer(input, layer, states);
    if (layer + 1 < options_.layers) {
      input.data = ops::dropout(input.data, options_.dropout, is_training());
    }
  }
  std::vector<Tensor> results = stacked(states);
  if (is_sorted) {
    std::vector<Tensor> sorted = results;
    for (Tensor& state : results) state = ops::index_select(state, 1, parts[2]);
    first.drop();
    while (!sorted.empty()) sorted.pop_back();
  }
  first.drop();
  results.insert(results.begin(), input.data);
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
  const Recurrent::State state{part(1), is_lstm ? part(2) : Tensor()};
  const Recurrent::Weights weights{own_parameter(0), own_parameter(1), if_defined(own_parameter(2)),
                                   if_defined(own_parameter(3))};
  const Recurrent::State next = Recurrent::step(kind_, *input, state, weights);
  if (!is_lstm) return next.hidden;
  return std::vector<Tensor>{next.hidden, next.cell};
}

}  // namespace ohm::nn
