// Recurrent layers.
#pragma once

#include <optional>
#include <vector>

#include "runtime/nn/module.h"
#include "runtime/nn/new_parameter.h"
#include "runtime/nn/recurrent_steps.h"
#include "runtime/ops/recurrent/cudnn_recurrent.h"

namespace ohm::nn {

struct RecurrentOptions {
  std::int64_t layers = 1;
  bool has_bias = true;
  bool is_batch_first = false;
  double dropout = 0.0;  ///< between the layers
  bool is_bidirectional = false;
  std::int64_t projection_size = 0;  ///< of an LSTM's hidden states; 0: they are not projected
};

/// RNN, GRU and LSTM: [T, N, in] (batch first: [N, T, in]) -> [T, N, directions·hidden], with the
/// last states [layers·directions, N, hidden] behind it: h_n, and c_n of an LSTM. Parameters
/// weight_ih_l0 [gates·hidden, in], weight_hh_l0, bias_ih_l0 [gates·hidden], bias_hh_l0, …, with
/// "_reverse" behind those of the other direction, uniform in ±1/√hidden. With a projection an LSTM
/// hands on states [N, projection], with weight_hr_l0 [projection, hidden] behind its biases. All
/// of it also without the batch: an input [T, in] with states [layers·directions, hidden].
///
/// On a GPU with cuDNN on one call of cuDNN's does it all (ops/recurrent/cudnn_recurrent.h), with
/// weights that lie in one buffer from the time on when the module was made there, or moved there.
/// Else it is computed step by step.
class Recurrent final : public CopyableModule<Recurrent> {
 public:
  using Kind = RecurrentKind;

  Recurrent(Kind kind, std::int64_t input_size, std::int64_t hidden_size,
            const RecurrentOptions& options, const ParameterOptions& parameters);

  /// A list of all parameters lets them go, which PyTorch keeps for its kernels.
  ~Recurrent() override;
  Recurrent(const Recurrent&) = default;
  Recurrent& operator=(const Recurrent&) = delete;

  std::string_view type_name() const override;

  /// Gives the weights a buffer, where cuDNN could take them: anew where they have one.
  void flatten_parameters();

  using Module::forward;
  /// input [, h_0 [, c_0]], or input, {h_0, c_0}: the first states, zeros when not given. The input
  /// may be packed (PackedSequence): a list of its data and, where sequences were sorted, of the
  /// sorted and the unsorted indices, with the batch sizes behind it. The output is such data.
  Value forward(const std::vector<Value>& inputs) override;

 private:
  using State = RecurrentState;
  /// PyTorch makes the biases also where a layer is to have none, and lets them go after the next.
  struct UnusedBiases {
    Tensor hidden;
    Tensor input;
  };

  void after_move() override { flatten_parameters(); }
  std::int64_t parts() const { return options_.layers * (options_.is_bidirectional ? 2 : 1); }
  std::int64_t weights_of_part() const { return options_.projection_size == 0 ? 4 : 5; }
  void require_sizes() const;
  void add_weights(std::int64_t layer, bool is_reverse, const ParameterOptions& parameters,
                   UnusedBiases& unused);
  std::vector<Tensor> weights() const;
  ops::RecurrentGeometry geometry() const;
  RecurrentSteps::Options steps_options() const;
  std::vector<Tensor> run(const Tensor& given, const State& first) const;
  std::vector<Tensor> run_packed(const Tensor& elements, const std::vector<std::int64_t>& sizes,
                                 const State& first) const;
  std::vector<Tensor> run_cudnn(const Tensor& input, const State& first,
                                const std::vector<std::int64_t>& sizes) const;
  void require_dtype_of_weights(const Tensor& input) const;
  Value forward_unbatched(const std::vector<Value>& inputs);
  Value forward_packed(const std::vector<Value>& inputs);
  static State permuted(const State& state, const Tensor& order);
  State given_states(const std::vector<Value>& inputs, const Tensor& like,
                     std::int64_t batch) const;

  Kind kind_;
  std::int64_t input_size_;
  std::int64_t hidden_size_;
  RecurrentOptions options_;
};

/// RNNCell, GRUCell and LSTMCell, one step of such a layer: [N, in] -> the next state [N, hidden],
/// of an LSTM a list of it and the next cell. Parameters weight_ih, weight_hh, bias_ih and bias_hh.
/// All of it also without the batch: an input [in] with a state [hidden].
class RecurrentCell final : public CopyableModule<RecurrentCell> {
 public:
  RecurrentCell(Recurrent::Kind kind, std::int64_t input_size, std::int64_t hidden_size,
                bool has_bias, const ParameterOptions& parameters);

  std::string_view type_name() const override;

  using Module::forward;
  /// input [, h [, c]], or input, {h, c}: the state, zeros when not given.
  Value forward(const std::vector<Value>& inputs) override;

 private:
  Value forward_unbatched(const std::vector<Value>& inputs);
  RecurrentState given_state(const std::vector<Value>& inputs, const Tensor& input) const;

  Recurrent::Kind kind_;
  std::int64_t input_size_;
  std::int64_t hidden_size_;
};

}  // namespace ohm::nn
