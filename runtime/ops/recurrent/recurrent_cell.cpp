#include "runtime/ops/recurrent/recurrent_cell.h"

#include <fmt/core.h>

#include <array>
#include <stdexcept>

#include "runtime/arithmetic/factories.h"
#include "runtime/arithmetic/reduce.h"
#include "runtime/autograd/recorder.h"
#include "runtime/kernels/functors/cells.h"
#include "runtime/kernels/launch/row_loops.h"
#include "runtime/ops/pointwise/binary_kernel.h"

namespace ohm::ops {
namespace {

// As PyTorch names the fused kernels.
constexpr OpInfo kGruCell{"_thnn_fused_gru_cell", CastPolicy::low_precision};
constexpr OpInfo kLstmCell{"_thnn_fused_lstm_cell", CastPolicy::low_precision};

constexpr std::int64_t kGruGates = 3;
constexpr std::int64_t kGruWorkspace = 5;
constexpr std::int64_t kLstmGates = 4;

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

functors::MatrixSteps cell_steps_of(const Tensor& matrix) {
  if (!matrix.defined()) return {};
  return {matrix.strides()[0], matrix.strides()[1]};
}

functors::CellLayout layout_of(const CellInputs& cell) {
  const auto step = [](const Tensor& bias) { return bias.defined() ? bias.strides()[0] : 0; };
  return {cell.width(),
          cell_steps_of(cell.input_gates),
          cell_steps_of(cell.hidden_gates),
          cell_steps_of(cell.state),
          step(cell.input_bias),
          step(cell.hidden_bias)};
}

std::vector<RowArgument> operands_of(const CellInputs& cell) {
  return {cell.input_gates, cell.hidden_gates, cell.state, cell.input_bias, cell.hidden_bias};
}

// Of each bias that there is, also where it is not wanted.
Tensor bias_gradient(bool has_bias, const Tensor& grad_gates) {
  return has_bias ? reduce_sum(grad_gates, with(0, 0), false, grad_gates.dtype()) : Tensor();
}

// ---- GRU ----------------------------------------------------------------------------------------

TensorList gru_backward(const BackwardCall& call, bool has_bias) {
  const Tensor workspace = call.saved(5);
  const Tensor& grad = call.grad();
  const Shape gates{grad.size(0), kGruGates * grad.size(1)};
  Tensor grad_input = empty(gates, options_of(workspace));
  Tensor grad_hidden = empty(gates, options_of(workspace));
  Tensor grad_state = empty(grad.shape(), options_of(grad));
  if (grad.has_values()) {
    run_floating_rows(functors::GruCellBackward{grad.size(1), cell_steps_of(grad)}, grad.dtype(),
                      thread_for_each(grad.numel()),
                      {{grad_input, grad_hidden, grad_state}, {grad, workspace}});
  }
  Tensor input_bias = bias_gradient(has_bias, grad_input);
  Tensor hidden_bias = bias_gradient(has_bias, grad_hidden);
  return {grad_input, grad_hidden, grad_state, input_bias, hidden_bias};
}

// ---- LSTM ---------------------------------------------------------------------------------------

void compute_lstm_gradients(const BackwardCall& call, const Tensor& grad_gates,
                            const Tensor& grad_state) {
  if (!grad_gates.has_values()) return;
  const Tensor old_cell = call.saved(0);
  const Tensor new_cell = call.saved(5);
  const Tensor workspace = call.saved(6);
  const functors::LstmCellBackward slope{grad_state.size(1), cell_steps_of(call.grad(0)),
                                         cell_steps_of(call.grad(1)), cell_steps_of(old_cell)};
  run_floating_rows(
      slope, grad_state.dtype(), thread_for_each(grad_state.numel()),
      {{grad_gates, grad_state}, {call.grad(0), call.grad(1), old_cell, new_cell, workspace}});
}

TensorList lstm_backward(const BackwardCall& call, bool has_bias) {
  const Tensor workspace = call.saved(6);
  Tensor grad_gates = empty(workspace.shape(), options_of(workspace));
  Tensor grad_state = empty(call.output(1).shape, options_of(workspace));
  compute_lstm_gradients(call, grad_gates, grad_state);
  Tensor bias = bias_gradient(has_bias, grad_gates);
  return {grad_gates, grad_gates, grad_state, bias, bias};
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
  Tensor next = empty(cell.state.shape(), options_of(cell.state));
  if (next.has_values()) {
    run_floating_rows(functors::GruCell{layout_of(cell)}, next.dtype(),
                      thread_for_each(next.numel()), {{workspace, next}, operands_of(cell)});
  }
  record.save(workspace);
  record.attach(next, [has_bias = cell.input_bias.defined()](BackwardCall& call) {
    return gru_backward(call, has_bias);
  });
  return next;
}

std::vector<Tensor> lstm_cell_with_workspace(const Tensor& input_gates, const Tensor& hidden_gates,
                                             const Tensor& cx,
                                             const std::optional<Tensor>& input_bias,
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
  const Tensor next_hidden = empty(cell.state.shape(), options_of(cell.state));
  const Tensor next_cell = empty(cell.state.shape(), options_of(cell.state));
  if (next_hidden.has_values()) {
    run_floating_rows(functors::LstmCell{layout_of(cell)}, next_cell.dtype(),
                      thread_for_each(next_cell.numel()),
                      {{workspace, next_hidden, next_cell}, operands_of(cell)});
  }
  record.save_output(next_cell);
  record.save(workspace);
  std::vector<Tensor> results{next_hidden, next_cell};
  record.attach(results, [has_bias = cell.input_bias.defined()](BackwardCall& call) {
    return lstm_backward(call, has_bias);
  });
  results.push_back(workspace);
  return results;
}

std::vector<Tensor> lstm_cell(const Tensor& input_gates, const Tensor& hidden_gates,
                              const Tensor& cx, const std::optional<Tensor>& input_bias,
                              const std::optional<Tensor>& hidden_bias) {
  std::vector<Tensor> results =
      lstm_cell_with_workspace(input_gates, hidden_gates, cx, input_bias, hidden_bias);
  results.pop_back();
  return results;
}

std::vector<OpDef> recurrent_ops() {
  const auto names = [](const char* state) {
    return std::vector<ParamName>{"input_gates", "hidden_gates", state, "input_bias",
                                  "hidden_bias"};
  };
  return {
      define(kGruCell, kFunction, &gru_cell, names("hx")),
      define(kLstmCell, kFunction, &lstm_cell, names("cx")),
  };
}

}  // namespace ohm::ops
