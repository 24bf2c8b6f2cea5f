// The sign of each element.
#pragma once

#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// −1, 0 or 1. The gradient is 0.
Tensor sign(const Tensor& input);

}  // namespace ohm::ops
