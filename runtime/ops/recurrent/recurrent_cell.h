// One step of a recurrent layer: what comes behind the two matrix products.
#pragma once

#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// input_gates and hidden_gates [N, 3·H] (reset, update, new), hx [N, H] and biases [3·H], both or
/// none, give the next hidden state [N, H]. Keeps its inputs and a workspace [N, 5·H].
Tensor gru_cell(const Tensor& input_gates, const Tensor& hidden_gates, const Tensor& hx,
                const std::optional<Tensor>& input_bias, const std::optional<Tensor>& hidden_bias);

/// input_gates and hidden_gates [N, 4·H] (input, forget, cell, output) and cx [N, H] give the next
/// hidden and the next cell state. Keeps its inputs, the cell state and a workspace [N, 4·H].
std::vector<Tensor> lstm_cell(const Tensor& input_gates, const Tensor& hidden_gates,
                              const Tensor& cx, const std::optional<Tensor>& input_bias,
                              const std::optional<Tensor>& hidden_bias);

/// The same with the workspace behind them, for who lets it go later.
std::vector<Tensor> lstm_cell_with_workspace(const Tensor& input_gates, const Tensor& hidden_gates,
                                             const Tensor& cx,
                                             const std::optional<Tensor>& input_bias,
                                             const std::optional<Tensor>& hidden_bias);

std::vector<OpDef> recurrent_ops();

}  // namespace ohm::ops
