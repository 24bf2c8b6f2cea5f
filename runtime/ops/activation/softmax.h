// softmax and log_softmax along one dimension.
//
// Each makes one row-major tensor of the input's shape and keeps it: the input may go. Under
// autocast the result is float32, and a float16 input is read as it is, without a cast copy.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// exp(x) / sum(exp(x)) along `dim`; the result and the arithmetic are of `dtype` when given.
/// Backward makes a temporary of the gradient's size. Throws std::invalid_argument for a dtype
/// that is not floating, and for a dimension that does not exist.
Tensor softmax(const Tensor& input, std::int64_t dim, std::optional<DType> dtype);
/// softmax along the last dimension, written over its input, which is row-major. Without a graph.
void softmax_over(const Tensor& input);
/// softmax along the last dimension, with zeros where everything is −∞. Makes a bool tensor of the
/// input's shape, one for its rows and a number besides; they are temporary.
Tensor safe_softmax(const Tensor& input);
/// The logarithm of softmax, without overflow. Backward makes no temporary.
Tensor log_softmax(const Tensor& input, std::int64_t dim, std::optional<DType> dtype);

std::vector<OpDef> softmax_ops();

}  // namespace ohm::ops
