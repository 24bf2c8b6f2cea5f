// Activations: element-wise functions of one tensor that networks put between their layers.
//
// Each makes one new tensor of the input's shape and dtype. What a node keeps differs: relu,
// sigmoid, tanh and exp keep their result, so the input may go; gelu, silu and leaky_relu keep
// their input, which then stays alive beside the output that the next layer keeps.
#pragma once

#include <vector>

#include "runtime/ops/registry.h"

namespace ohm::ops {

Tensor relu(const Tensor& input);
/// In place: no new bytes; the same bytes stay for backward.
Tensor relu_(const Tensor& input);
Tensor sigmoid(const Tensor& input);
Tensor tanh(const Tensor& input);
Tensor gelu(const Tensor& input);
Tensor silu(const Tensor& input);
Tensor leaky_relu(const Tensor& input, double negative_slope);

std::vector<OpDef> activation_ops();

}  // namespace ohm::ops
