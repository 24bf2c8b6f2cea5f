// A recurrent network as cuDNN is given it: its inputs, its options, and how its values come about.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/ops/recurrent/recurrent_buffer.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

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

}  // namespace ohm::ops
