// Padding with what the input has: its edges mirrored, its last elements again, its other end.
#pragma once

#include <string>

#include "runtime/ops/op_info.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

inline constexpr OpInfo kPad{"pad"};

/// `pad` as ops::pad() takes it, of the last one, two or three dimensions.
///
/// The input is [C, …] or [N, C, …]. "reflect" (by less than a dimension's size) and "replicate"
/// make the result and keep the input for backward. PyTorch's kernels of "reflect" copy an input
/// that is not row-major, and those of one and of two dimensions such a gradient too. "circular"
/// (by at most a dimension's size): the result is written side by side, by copies that backward
/// goes through one by one.
///
/// Throws std::invalid_argument where the mode is another, or sizes do not fit.
Tensor pad_from_input(const Tensor& input, const Shape& pad, const std::string& mode);

}  // namespace ohm::ops
