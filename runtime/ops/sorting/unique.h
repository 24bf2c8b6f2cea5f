// Different elements of a tensor. How many there are is known once the values are: a device that
// keeps sizes only refuses them. Errors: std::invalid_argument naming the op.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// The elements that differ; each NaN is one of its own.
struct DifferentElements {
  Tensor values;   ///< [count]
  Tensor inverse;  ///< where each element of the input is among them, in its shape; int64
  Tensor counts;   ///< how often each occurs; int64
};

/// What is wanted beside the values.
struct UniqueParts {
  bool inverse = false;
  bool counts = false;
};

/// The different elements in ascending order.
DifferentElements unique(const Tensor& input, const UniqueParts& parts);
/// The first of each run of equal elements, in the order of the input.
DifferentElements unique_consecutive(const Tensor& input, const UniqueParts& parts);

std::vector<OpDef> unique_ops();

}  // namespace ohm::ops
