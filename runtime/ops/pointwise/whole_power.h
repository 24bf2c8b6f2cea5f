// Powers of whole numbers: they stay whole, and wrap as on a GPU.
#pragma once

#include "runtime/ops/pointwise/binary_kernel.h"

namespace ohm::ops {

/// out = base ^ exponent, of an integer dtype; `out` may be one of them. Throws
/// std::invalid_argument where the exponent is a negative number; those of a tensor give 0, 1 or
/// -1.
void raise_whole(const OpInfo& info, const Tensor& out, const TensorOrNumber& base,
                 const TensorOrNumber& exponent);

}  // namespace ohm::ops
