// Comparisons of whole tensors: equal, or nearly so.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// Whether both have one shape and all of their elements are equal. Tensors on one place in memory
/// are; else the elements are compared in a temporary of bools. Throws std::invalid_argument for
/// tensors of two devices, and where a size-only device does not know.
bool equal(const Tensor& input, const Tensor& other);

/// |input − other| ≤ atol + rtol · |other|, element by element: two of not-a-number are close where
/// `equal_nan` says so, and infinities where they are equal. Throws std::invalid_argument for
/// tensors of two dtypes, tolerances below 0, and, with `equal_nan`, an input that is broadcast.
Tensor isclose(const Tensor& input, const Tensor& other, double rtol, double atol, bool equal_nan);
/// Whether all elements are; throws as isclose() and equal() do.
bool allclose(const Tensor& input, const Tensor& other, double rtol, double atol, bool equal_nan);

std::vector<OpDef> closeness_ops();

}  // namespace ohm::ops
