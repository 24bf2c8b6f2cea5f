// Copies of complex tensors, and sums of them, through their parts. No graph is recorded here.
#pragma once

#include "runtime/base/dim_mask.h"
#include "runtime/tensor/tensor.h"

namespace ohm {

/// `tensor` itself, or a copy where its elements are lazily conjugated.
Tensor unconjugated(const Tensor& tensor);

/// Copies `source`, broadcast and cast, into `target`, one of which is complex: a real number gets
/// no imaginary part, a complex one loses it. Does not count as a write.
void copy_complex(const Tensor& target, const Tensor& source);

/// target += source, broadcast. Pre-condition: both are of one complex dtype.
void accumulate_complex(const Tensor& target, const Tensor& source);

/// out = a + b, each broadcast to the shape of `out`. Pre-condition: all are of one complex dtype,
/// `out` is not conjugated.
void add_complex(const Tensor& out, const Tensor& a, const Tensor& b);

}  // namespace ohm
