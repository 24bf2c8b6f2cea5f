// cuDNN's recurrent networks: all layers in one call, with the memory that PyTorch gives them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// What the weights of a recurrent network are like.
struct RecurrentGeometry {
  std::int64_t gates;
  std::int64_t layers;
  std::int64_t directions;
  std::int64_t input_size;
  std::int64_t hidden_size;
  bool has_biases;
};

/// Where weights lie in the one buffer that cuDNN has for them: matrices of all layers first, then
/// biases, for which there is room in any case. Weights are counted as modules have them:
/// weight_ih, weight_hh, bias_ih and bias_hh of each layer and direction.
class RecurrentBuffer {
 public:
  explicit RecurrentBuffer(const RecurrentGeometry& geometry) : geometry_(geometry) {}

  std::int64_t numel() const;
  /// Of weight `i`, in elements.
  std::int64_t offset(std::size_t i) const;

 private:
  std::int64_t matrix_rows() const { return geometry_.gates * geometry_.hidden_size; }
  std::int64_t width(std::int64_t part) const;
  std::int64_t parts() const { return geometry_.layers * geometry_.directions; }
  std::int64_t matrices_before(std::int64_t part) const;

  RecurrentGeometry geometry_;
};

/// Gives all weights their places in one buffer, where cuDNN could take them: the weights stay the
/// same objects. Undefined ones are left out. What nn.LSTM's flatten_parameters() does.
void flatten_recurrent_weights(const std::vector<Tensor>& weights,
                               const RecurrentGeometry& geometry);

/// Whether PyTorch leaves recurrent layers of this input to cuDNN.
bool is_recurrent_done_by_cudnn(const Tensor& input);

struct RecurrentInputs {
  Tensor input;
  Tensor hidden;
  Tensor cell;  ///< of an LSTM
  std::vector<Tensor> weights;
};

struct CudnnRecurrent {
  RecurrentGeometry geometry;
  bool is_batch_first = false;
  bool is_training = true;
  double dropout = 0.0;             ///< between the layers
  std::vector<std::int64_t> sizes;  ///< the batch sizes of a packed sequence's steps; else empty
  /// The output, the last hidden states and cells, of inputs on the host whose steps come first.
  std::function<std::vector<Tensor>(const RecurrentInputs&)> compute;
};

/// The output, the last hidden states, of an LSTM the last cells. Throws std::invalid_argument for
/// states that are not contiguous.
std::vector<Tensor> cudnn_recurrent(const RecurrentInputs& inputs, const CudnnRecurrent& network);

}  // namespace ohm::ops
