// Elements of a tensor by their numbers in row-major order, which may count from the end.
// Errors: std::invalid_argument naming op and shapes.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// The elements that `index` (int64) names, in its shape. The gradient is added into zeros laid out
/// as the input is.
Tensor take(const Tensor& input, const Tensor& index);
/// A copy of `input` with the elements of `source`, which has as many as the index, in the places
/// that it names; or with them added.
Tensor put(const Tensor& input, const Tensor& index, const Tensor& source, bool accumulate);
Tensor put_(const Tensor& input, const Tensor& index, const Tensor& source, bool accumulate);

std::vector<OpDef> flat_place_ops();

}  // namespace ohm::ops
