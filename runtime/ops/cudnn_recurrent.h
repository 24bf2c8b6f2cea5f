// cuDNN's recurrent networks: all layers in one call, with the memory that PyTorch gives them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/ops/recurrent_buffer.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

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
