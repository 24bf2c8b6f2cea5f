// Recurrent layers.
#pragma once

#include <optional>
#include <vector>

#include "runtime/nn/module.h"
#include "runtime/nn/new_parameter.h"

namespace ohm::nn {

struct RecurrentOptions {
  std::int64_t layers = 1;
  bool has_bias = true;
  bool is_batch_first = false;
  double dropout = 0.0;  ///< between the layers
  bool is_bidirectional = false;
};

/// RNN, GRU and LSTM: [T, N, in] (batch first: [N, T, in]) -> [T, N, directions·hidden], with the
/// last states [layers·directions, N, hidden] behind it: h_n, and c_n of an LSTM. Parameters
/// weight_ih_l0 [gates·hidden, in], weight_hh_l0, bias_ih_l0 [gates·hidden], bias_hh_l0, …, with
/// "_reverse" behind those of the other direction, uniform in ±1/√hidden.
///
/// Computed step by step with PyTorch's own fused cells, also where PyTorch would leave it to
/// cuDNN.
class Recurrent final : public CopyableModule<Recurrent> {
 public:
  enum class Kind : std::uint8_t { tanh, relu, gru, lstm };

  Recurrent(Kind kind, std::int64_t input_size, std::int64_t hidden_size,
            const RecurrentOptions& options, const ParameterOptions& parameters);

  /// A list of all parameters lets them go, which PyTorch keeps for its kernels.
  ~Recurrent() override;
  Recurrent(const Recurrent&) = default;
  Recurrent& operator=(const Recurrent&) = delete;

  std::string_view type_name() const override;

  using Module::forward;
  /// input [, h_0 [, c_0]], or input, {h_0, c_0}: the first states, zeros when not given. The input
  /// may be packed (PackedSequence): a list of its data and, where sequences were sorted, of the
  /// sorted and the unsorted indices, with the batch sizes behind it. The output is such data.
  Value forward(const std::vector<Value>& inputs) override;

 private:
  friend class RecurrentCell;
  struct Weights;
  struct State;
  struct Steps;

  Weights weights_of(std::size_t direction) const;
  static State step(Kind kind, const Tensor& input, const State& state, const Weights& weights);
  Steps run(const std::vector<Tensor>& inputs, const State& first, const Weights& weights) const;
  Tensor run_layer(const Tensor& input, std::int64_t layer, std::vector<State>& states) const;
  struct Packed;
  static State part_of(const State& state, std::int64_t first, std::int64_t count);
  static State joined(const std::vector<State>& states);
  static State permuted(const State& state, const Tensor& order);
  Tensor run_packed(const Packed& input, State& state, const Weights& weights) const;
  Tensor run_packed_backwards(const Packed& input, State& state, const Weights& weights) const;
  Tensor run_packed_layer(const Packed& input, std::int64_t layer,
                          std::vector<State>& states) const;
  Value forward_packed(const std::vector<Value>& inputs);
  std::vector<Tensor> stacked(std::vector<State>& states) const;
  void note_cudnn(const Tensor& input) const;
  State given_states(const std::vector<Value>& inputs, const Tensor& like,
                     std::int64_t batch) const;
  std::vector<State> states_of_layers(const State& given) const;

  Kind kind_;
  std::int64_t input_size_;
  std::int64_t hidden_size_;
  RecurrentOptions options_;
};

/// RNNCell, GRUCell and LSTMCell, one step of such a layer: [N, in] -> the next state [N, hidden],
/// of an LSTM a list of it and the next cell. Parameters weight_ih, weight_hh, bias_ih and bias_hh.
class RecurrentCell final : public CopyableModule<RecurrentCell> {
 public:
  RecurrentCell(Recurrent::Kind kind, std::int64_t input_size, std::int64_t hidden_size,
                bool has_bias, const ParameterOptions& parameters);

  std::string_view type_name() const override;

  using Module::forward;
  /// input [, h [, c]], or input, {h, c}: the state, zeros when not given.
  Value forward(const std::vector<Value>& inputs) override;

 private:
  Recurrent::Kind kind_;
  std::int64_t input_size_;
  std::int64_t hidden_size_;
};

}  // namespace ohm::nn
