#include "runtime/nn/recurrent_steps.h"

#include <algorithm>
#include <utility>

#include "runtime/ops/activation/activation.h"
#include "runtime/ops/matmul/linear.h"
#include "runtime/ops/matmul/matmul.h"
#include "runtime/ops/pointwise/inplace_binary.h"
#include "runtime/ops/random/dropout.h"
#include "runtime/ops/recurrent/recurrent_cell.h"
#include "runtime/ops/shape/concat.h"
#include "runtime/ops/shape/slice.h"
#include "runtime/ops/shape/view.h"

namespace ohm::nn {
namespace {

std::vector<RecurrentState> states_of_layers(const RecurrentState& given) {
  const std::vector<Tensor> hiddens = ops::unbind(given.hidden, 0);
  const std::vector<Tensor> cells =
      given.cell.defined() ? ops::unbind(given.cell, 0) : std::vector<Tensor>(hiddens.size());
  std::vector<RecurrentState> states;
  for (std::size_t i = 0; i < hiddens.size(); ++i) states.push_back({hiddens[i], cells[i]});
  return states;
}

RecurrentState part_of(const RecurrentState& state, std::int64_t first, std::int64_t count) {
  const Tensor cell = state.cell.defined() ? ops::narrow(state.cell, 0, first, count) : Tensor();
  return {ops::narrow(state.hidden, 0, first, count), cell};
}

RecurrentState joined(const std::vector<RecurrentState>& states) {
  std::vector<Tensor> hiddens;
  std::vector<Tensor> cells;
  for (const RecurrentState& state : states) {
    hiddens.push_back(state.hidden);
    cells.push_back(state.cell);
  }
  const Tensor cell = cells.front().defined() ? ops::cat(cells, 0) : Tensor();
  return {ops::cat(hiddens, 0), cell};
}

std::optional<Tensor> bias_of(const Tensor& tensor) {
  return tensor.defined() ? std::optional<Tensor>(tensor) : std::nullopt;
}

}  // namespace

std::int64_t gates_of(RecurrentKind kind) {
  if (kind == RecurrentKind::lstm) return 4;
  return kind == RecurrentKind::gru ? 3 : 1;
}

struct RecurrentSteps::Outputs {
  std::vector<Tensor> outputs;
  RecurrentState last;
};

RecurrentState recurrent_step(RecurrentKind kind, const Tensor& input, const RecurrentState& state,
                              const RecurrentWeights& weights) {
  if (kind == RecurrentKind::tanh || kind == RecurrentKind::relu) {
    const Tensor sum = ops::linear(state.hidden, weights.hidden, weights.hidden_bias);
    // Both parts live until the function of their sum is there.
    const Tensor input_part = ops::linear(input, weights.input, weights.input_bias);
    ops::add_(sum, input_part);
    return {kind == RecurrentKind::tanh ? ops::tanh(sum) : ops::relu(sum), Tensor()};
  }
  const Tensor input_gates = ops::matmul(input, ops::t(weights.input));
  const Tensor hidden_gates = ops::matmul(state.hidden, ops::t(weights.hidden));
  if (kind == RecurrentKind::gru) {
    return {ops::gru_cell(input_gates, hidden_gates, state.hidden, weights.input_bias,
                          weights.hidden_bias),
            Tensor()};
  }
  std::vector<Tensor> next = ops::lstm_cell_with_workspace(input_gates, hidden_gates, state.cell,
                                                           weights.input_bias, weights.hidden_bias);
  if (!weights.projection) return {std::move(next[0]), std::move(next[1])};
  // The workspace is there until the projection is.
  Tensor projected = ops::matmul(next[0], ops::t(*weights.projection));
  next[0] = Tensor();
  next[2] = Tensor();
  return {std::move(projected), std::move(next[1])};
}

RecurrentWeights RecurrentSteps::weights_of(std::size_t direction) const {
  const std::size_t count = weights_of_direction();
  const std::size_t first = direction * count;
  return {weights_[first], weights_[first + 1], bias_of(weights_[first + 2]),
          bias_of(weights_[first + 3]),
          count == 5 ? std::optional<Tensor>(weights_[first + 4]) : std::nullopt};
}

RecurrentSteps::Outputs RecurrentSteps::run_direction(const std::vector<Tensor>& inputs,
                                                      const RecurrentState& first,
                                                      const RecurrentWeights& weights) const {
  Outputs steps{{}, first};
  for (const Tensor& input : inputs) {
    steps.last = recurrent_step(options_.kind, input, steps.last, weights);
    steps.outputs.push_back(steps.last.hidden);
  }
  return steps;
}

// `states`: those of all layers and directions; the layer's are replaced by its last ones.
Tensor RecurrentSteps::run_layer(const Tensor& input, std::int64_t layer,
                                 std::vector<RecurrentState>& states) const {
  const std::size_t forward = static_cast<std::size_t>(layer) * directions();
  std::vector<Tensor> inputs = ops::unbind(input, 0);
  Outputs steps = run_direction(inputs, states[forward], weights_of(forward));
  const Tensor output = ops::stack(steps.outputs, 0);
  states[forward] = std::move(steps.last);
  if (!options_.is_bidirectional) return output;
  const std::size_t backward = forward + 1;
  std::reverse(inputs.begin(), inputs.end());
  Outputs reversed = run_direction(inputs, states[backward], weights_of(backward));
  std::reverse(reversed.outputs.begin(), reversed.outputs.end());
  const Tensor other = ops::stack(reversed.outputs, 0);
  states[backward] = std::move(reversed.last);
  return ops::cat({output, other}, output.dims() - 1);
}

Tensor RecurrentSteps::dropped_out(const Tensor& output, std::int64_t layer) const {
  if (layer + 1 == options_.layers) return output;
  return ops::dropout(output, options_.dropout, options_.is_training);
}

// The cells are stacked before the hidden states, and go before them.
std::vector<Tensor> RecurrentSteps::stacked(std::vector<RecurrentState>& states) const {
  std::vector<Tensor> last_hidden;
  std::vector<Tensor> last_cells;
  for (RecurrentState& state : states) {
    last_hidden.push_back(std::move(state.hidden));
    last_cells.push_back(std::move(state.cell));
  }
  const Tensor cells = options_.kind == RecurrentKind::lstm ? ops::stack(last_cells, 0) : Tensor();
  std::vector<Tensor> results{ops::stack(last_hidden, 0)};
  if (cells.defined()) results.push_back(cells);
  return results;
}

std::vector<Tensor> RecurrentSteps::run(const Tensor& input, const RecurrentState& first) const {
  std::vector<RecurrentState> states = states_of_layers(first);
  Tensor output = input;
  for (std::int64_t layer = 0; layer < options_.layers; ++layer) {
    output = run_layer(output, layer, states);
    output = dropped_out(output, layer);
  }
  std::vector<Tensor> results = stacked(states);
  results.insert(results.begin(), output);
  return results;
}

// ---- sequences of several lengths ---------------------------------------------------------------

struct RecurrentSteps::Packed {
  Tensor data;
  const std::vector<std::int64_t>& sizes;
};

// A sequence that is over leaves its state behind: those of the shortest ones are put aside first.
Tensor RecurrentSteps::run_packed_forwards(const Packed& input, RecurrentState& state,
                                           const RecurrentWeights& weights) const {
  std::vector<Tensor> outputs;
  std::vector<RecurrentState> over;
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
    state = recurrent_step(options_.kind, step_input, state, weights);
    outputs.push_back(state.hidden);
  }
  over.push_back(state);
  std::reverse(over.begin(), over.end());
  Tensor output = ops::cat(outputs, 0);
  state = joined(over);
  return output;
}

// The longest sequence begins alone; the others join it where they end.
Tensor RecurrentSteps::run_packed_backwards(const Packed& input, RecurrentState& state,
                                            const RecurrentWeights& weights) const {
  const RecurrentState first = state;
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
    state = recurrent_step(options_.kind, step_input, state, weights);
    outputs.push_back(state.hidden);
  }
  std::reverse(outputs.begin(), outputs.end());
  return ops::cat(outputs, 0);
}

Tensor RecurrentSteps::run_packed_layer(const Packed& input, std::int64_t layer,
                                        std::vector<RecurrentState>& states) const {
  const std::size_t forward = static_cast<std::size_t>(layer) * directions();
  const Tensor output = run_packed_forwards(input, states[forward], weights_of(forward));
  if (!options_.is_bidirectional) return output;
  const std::size_t backward = forward + 1;
  const Tensor other = run_packed_backwards(input, states[backward], weights_of(backward));
  return ops::cat({output, other}, output.dims() - 1);
}

std::vector<Tensor> RecurrentSteps::run_packed(const Tensor& data,
                                               const std::vector<std::int64_t>& sizes,
                                               const RecurrentState& first) const {
  std::vector<RecurrentState> states = states_of_layers(first);
  Packed input{data, sizes};
  for (std::int64_t layer = 0; layer < options_.layers; ++layer) {
    input.data = run_packed_layer(input, layer, states);
    input.data = dropped_out(input.data, layer);
  }
  std::vector<Tensor> results = stacked(states);
  results.insert(results.begin(), input.data);
  return results;
}

}  // namespace ohm::nn
