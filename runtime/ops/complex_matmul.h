// Products of complex matrices on the host.
#pragma once

#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// out = a · b, or out += a · b, of matrices or of batches of them with values, any of which may be
/// lazily conjugated. Pre-condition: all are of one complex dtype, `out` is not conjugated.
void complex_matrix_product(const Tensor& a, const Tensor& b, const Tensor& out, bool adds_to_out);

}  // namespace ohm::ops
