// The values of cuDNN's recurrent networks and of their gradients, computed on the host by the
// steps of PyTorch's own layers.
#pragma once

#include <vector>

#include "runtime/base/philox.h"
#include "runtime/ops/recurrent/recurrent_network.h"

namespace ohm::ops {

/// Writes the values of `targets`: the output, the last hidden states, and cells. `draws` are those
/// of the dropout. Does nothing where they have no values.
void compute_on_host(const RecurrentInputs& inputs, const CudnnRecurrent& network,
                     const PhiloxGenerator& draws, const std::vector<Tensor>& targets);

/// Gradients of all that a network is given.
struct RecurrentGradients {
  Tensor input;
  Tensor hidden;
  Tensor cell;
  std::vector<Tensor> weights;
};

/// The gradients, on the host, for `grads` of the output, the last hidden states, and cells; on any
/// device.
RecurrentGradients gradients_on_host(const RecurrentInputs& inputs, const CudnnRecurrent& network,
                                     const PhiloxGenerator& draws,
                                     const std::vector<Tensor>& grads);

}  // namespace ohm::ops
