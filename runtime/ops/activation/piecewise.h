// Activations made of straight lines, and of an exponential on one side.
//
// Each makes one new tensor of the input's shape and dtype and keeps its input; in place it makes
// none and keeps its result, which tells on which piece an element lay.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

Tensor leaky_relu(const Tensor& input, double negative_slope, bool inplace);
/// x above 0, alpha (eˣ − 1) below.
Tensor elu(const Tensor& input, double alpha, bool inplace);
/// elu with the constants that keep mean 0 and variance 1.
Tensor selu(const Tensor& input, bool inplace);
/// max(0, x) + min(0, alpha (e^(x/alpha) − 1)).
Tensor celu(const Tensor& input, double alpha, bool inplace);
/// x limited to [min_val, max_val].
Tensor hardtanh(const Tensor& input, double min_val, double max_val, bool inplace);
Tensor relu6(const Tensor& input, bool inplace);
/// (x + 3) / 6 limited to [0, 1]; hardswish is x times it.
Tensor hardsigmoid(const Tensor& input, bool inplace = false);
Tensor hardswish(const Tensor& input, bool inplace = false);
/// 0 where |x| <= lambd; softshrink moves the rest towards 0 by lambd.
Tensor hardshrink(const Tensor& input, double lambd);
Tensor softshrink(const Tensor& input, double lambd);
/// x above `limit`, else `value`.
Tensor threshold(const Tensor& input, double limit, double value, bool inplace = false);
/// x above 0, weight · x below; `weight` has one element, or one for each channel (dimension 1).
Tensor prelu(const Tensor& input, const Tensor& weight);

std::vector<OpDef> piecewise_ops();

}  // namespace ohm::ops
