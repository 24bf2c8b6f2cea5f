#include "runtime/ops/recurrent_cell.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <stdexcept>

#include "runtime/autograd/recorder.h"
#include "runtime/ops/binary_kernel.h"
#include "runtime/ops/host_values.h"
#include "runtime/tensor/factories.h"
#include "runtime/tensor/reduce.h"

namespace ohm::ops {
namespace {

// As PyTorch names the fused kernels.
constexpr OpInfo kGruCell{"_thnn_fused_gru_cell", CastPolicy::low_precision};
constexpr OpInfo kLstmCell{"_thnn_fused_lstm_cell", CastPolicy::low_precision};

constexpr std::int64_t kGruGates = 3;
constexpr std::int64_t kGruWorkspace = 5;
constexpr std::int64_t kLstmGates = 4;

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

struct CellInputs {
  Tensor input_gates;
  Tensor hidden_gates;
  Tensor state;
  Tensor input_bias;  ///< undefined without biases
  Tensor hidden_bias;

  std::int64_t batch() const { return state.size(0); }
  std::int64_t width() const { return state.size(1); }
};

CellInputs checked_inputs(const OpInfo& info, const OpFront& front, std::int64_t gates,
                          const std::array<Tensor, 5>& given) {
  CellInputs cell;
  cell.hidden_bias = front.input(given[4]);
  cell.input_bias = front.input(given[3]);
  cell.state = front.input(given[2]);
  cell.hidden_gates = front.input(given[1]);
  cell.input_gates = front.input(given[0]);
  bool fits = cell.state.dims() == 2 && is_floating(cell.state.dtype()) &&
              cell.input_bias.defined() == cell.hidden_bias.defined();
  for (const Tensor* tensor : {&cell.input_gates, &cell.hidden_gates}) {
    fits = fits && tensor->shape() == Shape{cell.batch(), gates * cell.width()};
  }
  for (const Tensor* tensor : {&cell.input_bias, &cell.hidden_bias}) {
    if (tensor->defined()) fits = fits && tensor->shape() == Shape{gates * cell.width()};
  }
  if (!fits) {
    throw std::invalid_argument(
        fmt::format("[{}] gates {} and {} do not fit a state {}: expected {} gates of its width",
                    info.name, cell.input_gates.shape().str(), cell.hidden_gates.shape().str(),
                    cell.state.shape().str(), gates));
  }
  for (const Tensor* tensor :
       {&cell.input_gates, &cell.hidden_gates, &cell.input_bias, &cell.hidden_bias}) {
    if (tensor->defined()) require_same_device(cell.state, *tensor, info);
  }
  return cell;
}

// In the order of PyTorch's names for them, in which they are released: an LSTM's state is its
// cell, "cx", a GRU's "hx".
void save_gru_inputs(Recorder& record, const CellInputs& cell) {
  record.save(cell.hidden_bias);
  record.save(cell.hidden_gates);
  record.save(cell.state);
  record.save(cell.input_bias);
  record.save(cell.input_gates);
}
void save_lstm_inputs(Recorder& record, const CellInputs& cell) {
  record.save(cell.state);
  record.save(cell.hidden_bias);
  record.save(cell.hidden_gates);
  record.save(cell.input_bias);
  record.save(cell.input_gates);
}

// Calls visit(row, column, gates): gate g of the element is input and hidden part with their
// biases.
template <class F>
void for_each_cell(const CellInputs& cell, std::int64_t gates, F&& visit) {
  const HostInput<double> input(cell.input_gates);
  const HostInput<double> hidden(cell.hidden_gates);
  const HostInput<double> input_bias(cell.input_bias);
  const HostInput<double> hidden_bias(cell.hidden_bias);
  const std::int64_t width = cell.width();
  std::array<double, kLstmGates> input_parts{};
  std::array<double, kLstmGates> hidden_parts{};
  for (std::int64_t row = 0; row < cell.batch(); ++row) {
    for (std::int64_t column = 0; column < width; ++column) {
      for (std::int64_t gate = 0; gate < gates; ++gate) {
        const std::int64_t at = gate * width + column;
        const std::int64_t element = row * gates * width + at;
        const auto slot = static_cast<std::size_t>(gate);
        input_parts[slot] = input.data()[element];
        hidden_parts[slot] = hidden.data()[element];
        if (input_bias.data() == nullptr) continue;
        input_parts[slot] += input_bias.data()[at];
        hidden_parts[slot] += hidden_bias.data()[at];
      }
      visit(row, column, input_parts, hidden_parts);
    }
  }
}

// A row-major result as doubles, stored when all elements are there.
class Result {
 public:
  explicit Result(const Tensor& tensor)
      : tensor_(tensor),
        width_(tensor.size(1)),
        values_(tensor.has_values() ? static_cast<std::size_t>(tensor.numel()) : 0) {}
  double& at(std::int64_t row, std::int64_t column) {
    return values_[static_cast<std::size_t>(row * width_ + column)];
  }
  void store() const { store_values(tensor_, values_); }

 private:
  const Tensor& tensor_;
  std::int64_t width_;
  std::vector<double> values_;
};

Tensor bias_gradient(const BackwardCall& call, std::size_t input, const Tensor& grad_gates) {
  return call.needs(input) ? reduce_sum(grad_gates, with(0, 0), false, grad_gates.dtype())
                           : Tensor();
}

// ---- GRU ----------------------------------------------------------------------------------------

// The workspace keeps the three gates, the old state and what the hidden part adds to the new one.
void compute_gru(const CellInputs& cell, const Tensor& workspace, const Tensor& next) {
  if (!next.has_values()) return;
  const HostInput<double> state(cell.state);
  const std::int64_t width = cell.width();
  Result kept(workspace);
  Result result(next);
  for_each_cell(cell, kGruGates,
                [&](std::int64_t row, std::int64_t column, const auto& input, const auto& hidden) {
                  const double reset = sigmoid(input[0] + hidden[0]);
                  const double update = sigmoid(input[1] + hidden[1]);
                  const double fresh = std::tanh(input[2] + reset * hidden[2]);
                  const double old = state.data()[row * width + column];
                  kept.at(row, column) = reset;
                  kept.at(row, width + column) = update;
                  kept.at(row, 2 * width + column) = fresh;
                  kept.at(row, 3 * width + column) = old;
                  kept.at(row, 4 * width + column) = hidden[2];
                  result.at(row, column) = fresh + update * (old - fresh);
                });
  kept.store();
  result.store();
}

void compute_gru_gradients(const Tensor& grad, const Tensor& workspace, const Tensor& grad_input,
                           const Tensor& grad_hidden, const Tensor& grad_state) {
  if (!grad.has_values()) return;
  const HostInput<double> grads(grad);
  const HostInput<double> kept(workspace);
  const std::int64_t width = grad.size(1);
  Result input(grad_input);
  Result hidden(grad_hidden);
  Result state(grad_state);
  for (std::int64_t row = 0; row < grad.size(0); ++row) {
    for (std::int64_t column = 0; column < width; ++column) {
      const double* values = kept.data() + row * kGruWorkspace * width + column;
      const double reset = values[0];
      const double update = values[width];
      const double fresh = values[2 * width];
      const double g = grads.data()[row * width + column];
      const double to_fresh = g * (1.0 - update) * (1.0 - fresh * fresh);
      const double to_update = g * (values[3 * width] - fresh) * (1.0 - update) * update;
      const double to_reset = to_fresh * values[4 * width] * (1.0 - reset) * reset;
      input.at(row, column) = to_reset;
      input.at(row, width + column) = to_update;
      input.at(row, 2 * width + column) = to_fresh;
      hidden.at(row, column) = to_reset;
      hidden.at(row, width + column) = to_update;
      hidden.at(row, 2 * width + column) = to_fresh * reset;
      state.at(row, column) = g * update;
    }
  }
  input.store();
  hidden.store();
  state.store();
}

TensorList gru_backward(const BackwardCall& call) {
  const Tensor workspace = call.saved(5);
  const Tensor& grad = call.grad();
  const Shape gates{grad.size(0), kGruGates * grad.size(1)};
  Tensor grad_input = empty(gates, options_of(workspace));
  Tensor grad_hidden = empty(gates, options_of(workspace));
  Tensor grad_state = empty(grad.shape(), options_of(grad));
  compute_gru_gradients(grad, workspace, grad_input, grad_hidden, grad_state);
  Tensor input_bias = bias_gradient(call, 3, grad_input);
  Tensor hidden_bias = bias_gradient(call, 4, grad_hidden);
  return {grad_input, grad_hidden, grad_state, input_bias, hidden_bias};
}

// ---- LSTM ---------------------------------------------------------------------------------------

// The workspace keeps the gates.
void compute_lstm(const CellInputs& cell, const Tensor& workspace, const Tensor& next_hidden,
                  const Tensor& next_cell) {
  if (!next_hidden.has_values()) return;
  const HostInput<double> state(cell.state);
  const std::int64_t width = cell.width();
  Result kept(workspace);
  Result hidden_result(next_hidden);
  Result cell_result(next_cell);
  for_each_cell(cell, kLstmGates,
                [&](std::int64_t row, std::int64_t column, const auto& input, const auto& hidden) {
                  const double let_in = sigmoid(input[0] + hidden[0]);
                  const double forget = sigmoid(input[1] + hidden[1]);
                  const double fresh = std::tanh(input[2] + hidden[2]);
                  const double let_out = sigmoid(input[3] + hidden[3]);
                  const double next = forget * state.data()[row * width + column] + let_in * fresh;
                  kept.at(row, column) = let_in;
                  kept.at(row, width + column) = forget;
                  kept.at(row, 2 * width + column) = fresh;
                  kept.at(row, 3 * width + column) = let_out;
                  cell_result.at(row, column) = next;
                  hidden_result.at(row, column) = let_out * std::tanh(next);
                });
  kept.store();
  hidden_result.store();
  cell_result.store();
}

void compute_lstm_gradients(const BackwardCall& call, const Tensor& grad_gates,
                            const Tensor& grad_state) {
  if (!grad_gates.has_values()) return;
  const HostInput<double> hidden_grads(call.grad(0));
  const HostInput<double> cell_grads(call.grad(1));
  const Tensor old_state = call.saved(0);
  const Tensor new_state = call.saved(5);
  const Tensor workspace = call.saved(6);
  const HostInput<double> old_cells(old_state);
  const HostInput<double> new_cells(new_state);
  const HostInput<double> kept(workspace);
  const std::int64_t width = grad_state.size(1);
  Result gates(grad_gates);
  Result state(grad_state);
  for (std::int64_t row = 0; row < grad_state.size(0); ++row) {
    for (std::int64_t column = 0; column < width; ++column) {
      const std::int64_t at = row * width + column;
      const double* values = kept.data() + row * kLstmGates * width + column;
      const double let_in = values[0];
      const double forget = values[width];
      const double fresh = values[2 * width];
      const double let_out = values[3 * width];
      const double squashed = std::tanh(new_cells.data()[at]);
      const double to_hidden = hidden_grads.data() == nullptr ? 0.0 : hidden_grads.data()[at];
      double to_cell = to_hidden * let_out * (1.0 - squashed * squashed);
      if (cell_grads.data() != nullptr) to_cell += cell_grads.data()[at];
      gates.at(row, column) = to_cell * fresh * (1.0 - let_in) * let_in;
      gates.at(row, width + column) = to_cell * old_cells.data()[at] * (1.0 - forget) * forget;
      gates.at(row, 2 * width + column) = to_cell * let_in * (1.0 - fresh * fresh);
      gates.at(row, 3 * width + column) = to_hidden * squashed * (1.0 - let_out) * let_out;
      state.at(row, column) = to_cell * forget;
    }
  }
  gates.store();
  state.store();
}

TensorList lstm_backward(const BackwardCall& call) {
  const Tensor workspace = call.saved(6);
  Tensor grad_gates = empty(workspace.shape(), options_of(workspace));
  Tensor grad_state = empty(call.output(1).shape, options_of(workspace));
  compute_lstm_gradients(call, grad_gates, grad_state);
  Tensor bias = bias_gradient(call, 3, grad_gates);
  return {grad_gates, grad_gates, grad_state, bias, bias};
}

std::vector<Sample> cell_samples(std::int64_t gates) {
  const TensorOptions options{DType::float64, Device::cpu()};
  const auto tensor = [&](const Shape& shape) { return Value(randn(shape, options)); };
  const Shape wide{2, gates * 3};
  const Shape bias{gates * 3};
  return {{tensor(wide), tensor(wide), tensor({2, 3}), tensor(bias), tensor(bias)},
          {tensor(wide), tensor(wide), tensor({2, 3}), Value(), Value()}};
}

}  // namespace

Tensor gru_cell(const Tensor& input_gates, const Tensor& hidden_gates, const Tensor& hx,
                const std::optional<Tensor>& input_bias, const std::optional<Tensor>& hidden_bias) {
  const OpFront front(kGruCell);
  const CellInputs cell =
      checked_inputs(kGruCell, front, kGruGates,
                     {input_gates, hidden_gates, hx, input_bias.value_or(Tensor()),
                      hidden_bias.value_or(Tensor())});
  Recorder record("ThnnFusedGruCellBackward", {&cell.input_gates, &cell.hidden_gates, &cell.state,
                                               &cell.input_bias, &cell.hidden_bias});
  save_gru_inputs(record, cell);
  const Tensor workspace =
      empty({cell.batch(), kGruWorkspace * cell.width()}, options_of(cell.state));
  Tensor next = empty_like(cell.state);
  compute_gru(cell, workspace, next);
  record.save(workspace);
  record.attach(next, [](BackwardCall& call) { return gru_backward(call); });
  return next;
}

std::vector<Tensor> lstm_cell(const Tensor& input_gates, const Tensor& hidden_gates,
                              const Tensor& cx, const std::optional<Tensor>& input_bias,
                              const std::optional<Tensor>& hidden_bias) {
  const OpFront front(kLstmCell);
  const CellInputs cell =
      checked_inputs(kLstmCell, front, kLstmGates,
                     {input_gates, hidden_gates, cx, input_bias.value_or(Tensor()),
                      hidden_bias.value_or(Tensor())});
  Recorder record("ThnnFusedLstmCellBackward", {&cell.input_gates, &cell.hidden_gates, &cell.state,
                                                &cell.input_bias, &cell.hidden_bias});
  save_lstm_inputs(record, cell);
  const Tensor workspace = empty(cell.input_gates.shape(), options_of(cell.state));
  const Tensor next_hidden = empty_like(cell.state);
  const Tensor next_cell = empty_like(cell.state);
  compute_lstm(cell, workspace, next_hidden, next_cell);
  record.save_output(next_cell);
  record.save(workspace);
  const std::vector<Tensor> results{next_hidden, next_cell};
  record.attach(results, [](BackwardCall& call) { return lstm_backward(call); });
  return results;
}

std::vector<OpDef> recurrent_ops() {
  const auto names = [](const char* state) {
    return std::vector<ParamName>{"input_gates", "hidden_gates", state, "input_bias",
                                  "hidden_bias"};
  };
  return {
      define(kGruCell, kFunction, &gru_cell, names("hx"), [] { return cell_samples(kGruGates); }),
      define(kLstmCell, kFunction, &lstm_cell, names("cx"),
             [] { return cell_samples(kLstmGates); }),
  };
}

}  // namespace ohm::ops
