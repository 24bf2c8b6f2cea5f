// The gradient of a real tensor, out of a complex one.
#pragma once

#include "runtime/tensor/tensor.h"

namespace ohm {

/// The real parts of a complex gradient, as a view: an input that is real moves along the real axis
/// alone. Recorded under create_graph.
Tensor recorded_real_part(const Tensor& grad);

}  // namespace ohm
