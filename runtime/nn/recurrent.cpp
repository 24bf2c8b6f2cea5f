#include "runtime/nn/recurrent.h"

#include <fmt/core.h>

#include <cmath>
#include <stdexcept>
#include <utility>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/autocast_guard.h"
#include "runtime/lifetimes/lifetimes.h"
#include "runtime/nn/new_parameter.h"
#include "runtime/ops/indexing/indexing.h"
#include "runtime/ops/shape/view.h"
#include "runtime/tensor/context.h"

namespace ohm::nn {
namespace {

// (h, c) in a list behind the input, as PyTorch has them: one after the other.
std::vector<Value> with_states_apart(const std::vector<Value>& inputs, bool is_lstm) {
  const auto* const pair =
      inputs.size() == 2 && is_lstm ? std::get_if<std::vector<Tensor>>(&inputs[1]) : nullptr;
  if (pair == nullptr || pair->size() != 2) return inputs;
  return {inputs[0], (*pair)[0], (*pair)[1]};
}

// The inputs with a batch of one: the first's at `batch_dim`, those of its states at `state_dim`.
// Throws std::invalid_argument for states of another number of dimensions.
std::vector<Value> with_batch(const std::vector<Value>& inputs, int batch_dim, int state_dim) {
  std::vector<Value> batched = inputs;
  for (std::size_t i = 0; i < batched.size(); ++i) {
    Tensor* const tensor = std::get_if<Tensor>(&batched[i]);
    if (tensor == nullptr || (i > 0 && tensor->dims() != state_dim + 1)) {
      throw std::invalid_argument(fmt::format(
          "For unbatched {0}-D input, hx and cx should also be {0}-D tensors", state_dim + 1));
    }
    *tensor = ops::unsqueeze(*tensor, i == 0 ? batch_dim : state_dim);
  }
  return batched;
}

}  // namespace

Recurrent::Recurrent(Kind kind, std::int64_t input_size, std::int64_t hidden_size,
                     const RecurrentOptions& options, const ParameterOptions& parameters)
    : kind_(kind), input_size_(input_size), hidden_size_(hidden_size), options_(options) {
  require_sizes();
  UnusedBiases unused;
  for (std::int64_t part = 0; part < parts(); ++part) {
    const bool is_reverse = options.is_bidirectional && part % 2 == 1;
    add_weights(options.is_bidirectional ? part / 2 : part, is_reverse, parameters, unused);
  }
  flatten_parameters();
  unused.input = Tensor();
}

void Recurrent::require_sizes() const {
  if (input_size_ <= 0 || hidden_size_ <= 0 || options_.layers <= 0) {
    throw std::invalid_argument(
        fmt::format("[{}] input_size {}, hidden_size {} and num_layers {} must be positive",
                    type_name(), input_size_, hidden_size_, options_.layers));
  }
  if (options_.projection_size < 0 || options_.projection_size >= hidden_size_) {
    throw std::invalid_argument(
        fmt::format("[{}] proj_size must be from 0 to below hidden_size {}, got {}", type_name(),
                    hidden_size_, options_.projection_size));
  }
}

void Recurrent::add_weights(std::int64_t layer, bool is_reverse, const ParameterOptions& parameters,
                            UnusedBiases& unused) {
  const ops::RecurrentGeometry sizes = geometry();
  const std::string where = fmt::format("_l{}{}", layer, is_reverse ? "_reverse" : "");
  const double bound = 1.0 / std::sqrt(static_cast<double>(hidden_size_));
  const auto add = [&](const char* name, const Shape& shape, bool is_there) {
    add_parameter(name + where, is_there ? uniform_parameter(shape, bound, parameters) : Tensor());
  };
  const std::int64_t rows = sizes.gates * hidden_size_;
  add("weight_ih", {rows, layer == 0 ? input_size_ : sizes.output_size() * sizes.directions}, true);
  add("weight_hh", {rows, sizes.output_size()}, true);
  add("bias_ih", {rows}, options_.has_bias);
  add("bias_hh", {rows}, options_.has_bias);
  if (!options_.has_bias) {
    unused.input = constant_parameter({rows}, 0.0, parameters);
    unused.hidden = constant_parameter({rows}, 0.0, parameters);
  }
  if (options_.projection_size != 0) {
    add("weight_hr", {options_.projection_size, hidden_size_}, true);
  }
}

Recurrent::~Recurrent() { drop_parameters_from_the_last(); }

std::string_view Recurrent::type_name() const {
  if (kind_ == Kind::lstm) return "LSTM";
  return kind_ == Kind::gru ? "GRU" : "RNN";
}

std::vector<Tensor> Recurrent::weights() const {
  std::vector<Tensor> weights;
  for (std::int64_t i = 0; i < parts() * weights_of_part(); ++i) {
    weights.push_back(own_parameter(static_cast<std::size_t>(i)));
  }
  return weights;
}

ops::RecurrentGeometry Recurrent::geometry() const {
  return {gates_of(kind_), options_.layers,   options_.is_bidirectional ? 2 : 1, input_size_,
          hidden_size_,    options_.has_bias, options_.projection_size};
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
  const auto given = [&](std::size_t i, std::int64_t width) {
    const Shape shape{parts(), batch, width};
    if (i >= inputs.size()) return zeros(shape, options_of(like));
    const Tensor* state = std::get_if<Tensor>(&inputs[i]);
    if (state == nullptr || !(state->shape() == shape)) {
      throw std::invalid_argument(
          fmt::format("[{}] expected a first state of shape {}", type_name(), shape.str()));
    }
    return *state;
  };
  State first;
  try {
    first.hidden = given(1, geometry().output_size());
    if (kind_ == Kind::lstm) first.cell = given(2, hidden_size_);
  } catch (...) {
    hold_variables({first.hidden});
    throw;
  }
  return first;
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

std::vector<Tensor> Recurrent::run(const Tensor& given, const State& first) const try {
  if (ops::is_recurrent_done_by_cudnn(given)) return run_cudnn(given, first, {});
  const Tensor input = options_.is_batch_first ? ops::transpose(given, 0, 1) : given;
  std::vector<Tensor> results = RecurrentSteps(steps_options(), weights()).run(input, first);
  if (options_.is_batch_first) results[0] = ops::transpose(results[0], 0, 1);
  return results;
} catch (...) {  // the first states are variables in PyTorch
  hold_variables({first.hidden, first.cell});
  throw;
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
  const std::vector<Value> apart = with_states_apart(inputs, kind_ == Kind::lstm);
  const std::size_t most = kind_ == Kind::lstm ? 3 : 2;
  const Tensor* const given = apart.empty() ? nullptr : std::get_if<Tensor>(&apart[0]);
  const bool has_width = given != nullptr && apart.size() <= most && given->dims() >= 2 &&
                         given->size(-1) == input_size_;
  if (has_width && given->dims() == 2) return forward_unbatched(apart);
  if (!has_width || given->dims() != 3) {
    throw std::invalid_argument(fmt::format(
        "[{}] takes an input [{}, {}], or one without the batch, and maybe first states",
        type_name(), options_.is_batch_first ? "batch, time" : "time, batch", input_size_));
  }
  State first = given_states(apart, *given, given->size(options_.is_batch_first ? 0 : 1));
  require_dtype_of_weights(*given);
  std::vector<Tensor> results = run(*given, first);
  first.drop();
  return results;
}

Value Recurrent::forward_unbatched(const std::vector<Value>& inputs) {
  const int batch_dim = options_.is_batch_first ? 0 : 1;
  std::vector<Tensor> results =
      std::get<std::vector<Tensor>>(forward(with_batch(inputs, batch_dim, 1)));
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i] = ops::squeeze(results[i], i == 0 ? batch_dim : 1);
  }
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
  const bool is_permuted = is_sorted && given.size() > 1;
  if (is_permuted) first = permuted(first, parts[1]);
  std::vector<Tensor> results = run_packed(parts[0], sizes, first);
  if (is_sorted) {
    std::vector<Tensor> sorted(results.begin() + 1, results.end());
    for (std::size_t i = 1; i < results.size(); ++i) {
      results[i] = ops::index_select(results[i], 1, parts[2]);
    }
    if (is_permuted) first.cell = Tensor();  // a pair of Python's lets the last one go first
    first.drop();
    while (!sorted.empty()) sorted.pop_back();
  }
  first.drop();
  return results;
}

std::vector<Tensor> Recurrent::run_packed(const Tensor& elements,
                                          const std::vector<std::int64_t>& sizes,
                                          const State& first) const try {
  if (ops::is_recurrent_done_by_cudnn(elements)) return run_cudnn(elements, first, sizes);
  return RecurrentSteps(steps_options(), weights()).run_packed(elements, sizes, first);
} catch (...) {
  hold_variables({first.hidden, first.cell});
  throw;
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

RecurrentState RecurrentCell::given_state(const std::vector<Value>& inputs,
                                          const Tensor& input) const {
  const Shape shape{input.size(0), hidden_size_};
  const Tensor nothing = inputs.size() > 1 ? Tensor() : zeros(shape, options_of(input));
  const auto part = [&](std::size_t i) {
    if (i >= inputs.size()) return nothing.defined() ? nothing : zeros(shape, options_of(input));
    const Tensor* const state = std::get_if<Tensor>(&inputs[i]);
    if (state == nullptr || !(state->shape() == shape)) {
      throw std::invalid_argument(
          fmt::format("[{}] expected a state of shape {}", type_name(), shape.str()));
    }
    return *state;
  };
  return {part(1), kind_ == Recurrent::Kind::lstm ? part(2) : Tensor()};
}

Value RecurrentCell::forward(const std::vector<Value>& inputs) {
  const bool is_lstm = kind_ == Recurrent::Kind::lstm;
  const std::vector<Value> apart = with_states_apart(inputs, is_lstm);
  const Tensor* const input = apart.empty() ? nullptr : std::get_if<Tensor>(&apart[0]);
  const bool has_width = input != nullptr && apart.size() <= (is_lstm ? 3U : 2U) &&
                         input->dims() >= 1 && input->size(-1) == input_size_;
  if (has_width && input->dims() == 1) return forward_unbatched(apart);
  if (!has_width || input->dims() != 2) {
    throw std::invalid_argument(
        fmt::format("[{}] takes an input [batch, {}], or one without the batch, and maybe a state",
                    type_name(), input_size_));
  }
  const RecurrentState state = given_state(apart, *input);
  const RecurrentWeights weights{own_parameter(0), own_parameter(1), if_defined(own_parameter(2)),
                                 if_defined(own_parameter(3))};
  try {
    const RecurrentState next = recurrent_step(kind_, *input, state, weights);
    if (!is_lstm) return next.hidden;
    return std::vector<Tensor>{next.hidden, next.cell};
  } catch (...) {
    hold_variables({state.hidden, state.cell});
    throw;
  }
}

Value RecurrentCell::forward_unbatched(const std::vector<Value>& inputs) {
  const Value next = forward(with_batch(inputs, 0, 0));
  const auto without_batch = [](const Tensor& state) { return ops::squeeze(state, 0); };
  if (kind_ != Recurrent::Kind::lstm) return without_batch(std::get<Tensor>(next));
  const auto& parts = std::get<std::vector<Tensor>>(next);
  return std::vector<Tensor>{without_batch(parts[0]), without_batch(parts[1])};
}

}  // namespace ohm::nn
