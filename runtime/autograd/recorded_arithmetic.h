// The engine's arithmetic on gradients, recorded: under create_graph a gradient has a graph too,
// and it goes on through sums, casts and broadcasts. Without grad mode these are the plain
// functions of runtime/arithmetic.
#pragma once

#include "runtime/autograd/recorder.h"
#include "runtime/tensor/tensor.h"

namespace ohm {

/// a + b in a new tensor. Pre-condition: same shape and dtype.
Tensor recorded_sum(const Tensor& a, const Tensor& b);

/// A row-major copy.
Tensor recorded_copy(const Tensor& tensor);
/// The same into `copy`, a new tensor, which is returned.
Tensor recorded_copy_into(Tensor copy, const Tensor& tensor);

/// Saves a copy of an input that is overwritten afterwards, for a formula that needs its values.
/// The copy has a history.
void save_copy(Recorder& record, const Tensor& input);

/// `tensor` itself when it has this dtype, else a copy.
Tensor recorded_cast(const Tensor& tensor, DType dtype);

/// Sums over the dimensions in which `shape` is 1 or missing. `tensor` itself when it has the
/// shape.
Tensor recorded_sum_to(const Tensor& tensor, const Shape& shape);
/// The same in another dtype, where something has to be summed.
Tensor recorded_sum_to(const Tensor& tensor, const Shape& shape, DType sums);

/// A view of this shape, which repeats `tensor` along the dimensions where its own is 1 or missing.
Tensor recorded_expand(const Tensor& tensor, const Shape& shape);

}  // namespace ohm
