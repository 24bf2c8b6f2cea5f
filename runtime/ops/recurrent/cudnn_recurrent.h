// cuDNN's recurrent networks: all layers in one call, with the memory that PyTorch gives them.
#pragma once

#include <vector>

#include "runtime/ops/recurrent/recurrent_network.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// Whether PyTorch leaves recurrent layers of this input to cuDNN.
bool is_recurrent_done_by_cudnn(const Tensor& input);

/// The output, the last hidden states, of an LSTM the last cells. Throws std::invalid_argument for
/// states that are not contiguous.
std::vector<Tensor> cudnn_recurrent(const RecurrentInputs& inputs, const CudnnRecurrent& network);

}  // namespace ohm::ops
