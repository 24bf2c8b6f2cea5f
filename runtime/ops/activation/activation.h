// Activations: element-wise functions of one tensor that networks put between their layers.
//
// Each makes one new tensor of the input's shape and dtype. What a node keeps differs: relu,
// sigmoid, tanh and exp keep their result, so the input may go; gelu, silu and leaky_relu keep
// their input, which then stays alive beside the output that the next layer keeps.
#pragma once

#include <string>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

Tensor relu(const Tensor& input);
/// In place: no new bytes; the same bytes stay for backward.
Tensor relu_(const Tensor& input);
Tensor sigmoid(const Tensor& input);
Tensor tanh(const Tensor& input);
/// `approximate`: "none" (with erf) or "tanh".
Tensor gelu(const Tensor& input, const std::string& approximate);
Tensor silu(const Tensor& input, bool inplace);
/// x · tanh(log(1 + eˣ)).
Tensor mish(const Tensor& input, bool inplace = false);
/// log(1 + e^(beta x)) / beta; x itself where beta · x is above the threshold.
Tensor softplus(const Tensor& input, double beta, double threshold);
/// log(sigmoid(x)).
Tensor logsigmoid(const Tensor& input);
/// The first half along `dim` times the sigmoid of the second.
Tensor glu(const Tensor& input, std::int64_t dim);

std::vector<OpDef> activation_ops();

}  // namespace ohm::ops
