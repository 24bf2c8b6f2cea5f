// The places of elements that are not 0: how many there are is known once the values are.
//
// On a device that keeps sizes only they are refused: std::invalid_argument.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// The places of the elements that are not 0: int64 [count, dims], each column dense. There is no
/// gradient.
Tensor nonzero(const Tensor& input);
/// Its columns: an index for each dimension, of a number as of a tensor of one element.
std::vector<Tensor> nonzero_by_dim(const Tensor& input);

/// nonzero() of a mask of which every element is known to be set.
Tensor places_of_all(const Tensor& mask);

/// The memory that looking for nonzero elements takes beside its result; what it finds is taken to
/// be nothing.
void take_nonzero_scratch(const Tensor& input);

/// Throws where `input` has elements and none of their values.
void require_known_values(const OpInfo& info, const Tensor& input);

std::vector<OpDef> nonzero_ops();

}  // namespace ohm::ops
