// Recurrent layers step by step, with PyTorch's own fused cells.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace ohm::nn {

enum class RecurrentKind : std::uint8_t { tanh, relu, gru, lstm };

/// How many gates a cell has.
std::int64_t gates_of(RecurrentKind kind);

/// Of a layer in one direction.
struct RecurrentWeights {
  Tensor input;
  Tensor hidden;
  std::optional<Tensor> input_bias;
  std::optional<Tensor> hidden_bias;
  std::optional<Tensor> projection = {};  ///< of an LSTM's hidden state
};

struct RecurrentState {
  Tensor hidden;
  Tensor cell;  ///< of an LSTM

  // First states that the caller did not give live as long as the call, in PyTorch's Python.
  void drop() {
    hidden = Tensor();
    cell = Tensor();
  }
};

RecurrentState recurrent_step(RecurrentKind kind, const Tensor& input, const RecurrentState& state,
                              const RecurrentWeights& weights);

/// All layers of a module for one call.
class RecurrentSteps {
 public:
  struct Options {
    RecurrentKind kind;
    std::int64_t layers;
    bool is_bidirectional;
    double dropout;  ///< between the layers
    bool is_training;
  };
  /// `weights`: weight_ih, weight_hh, bias_ih, bias_hh and maybe weight_hr of each layer and
  /// direction; biases that there are none of are undefined.
  RecurrentSteps(const Options& options, std::vector<Tensor> weights)
      : options_(options), weights_(std::move(weights)) {}

  /// [T, N, in] -> the output, the last hidden states, of an LSTM the last cells.
  std::vector<Tensor> run(const Tensor& input, const RecurrentState& first) const;
  /// The same of a packed sequence, with the batch sizes of its steps.
  std::vector<Tensor> run_packed(const Tensor& data, const std::vector<std::int64_t>& sizes,
                                 const RecurrentState& first) const;

 private:
  struct Outputs;
  struct Packed;

  RecurrentWeights weights_of(std::size_t direction) const;
  std::size_t weights_of_direction() const {
    return weights_.size() / (static_cast<std::size_t>(options_.layers) * directions());
  }
  std::size_t directions() const { return options_.is_bidirectional ? 2 : 1; }
  Outputs run_direction(const std::vector<Tensor>& inputs, const RecurrentState& first,
                        const RecurrentWeights& weights) const;
  Tensor run_layer(const Tensor& input, std::int64_t layer,
                   std::vector<RecurrentState>& states) const;
  Tensor run_packed_forwards(const Packed& input, RecurrentState& state,
                             const RecurrentWeights& weights) const;
  Tensor run_packed_backwards(const Packed& input, RecurrentState& state,
                              const RecurrentWeights& weights) const;
  Tensor run_packed_layer(const Packed& input, std::int64_t layer,
                          std::vector<RecurrentState>& states) const;
  Tensor dropped_out(const Tensor& output, std::int64_t layer) const;
  std::vector<Tensor> stacked(std::vector<RecurrentState>& states) const;

  Options options_;
  std::vector<Tensor> weights_;
};

}  // namespace ohm::nn
