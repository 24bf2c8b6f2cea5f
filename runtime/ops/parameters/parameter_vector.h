// Parameters one behind the other in one vector, and back.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// The elements of all parameters, one parameter behind the other: a copy.
Tensor parameters_to_vector(const std::vector<Tensor>& parameters);
/// Each parameter looks at its piece of the vector from now on, and stays the same object. Throws
/// std::invalid_argument for a vector that is too short, or has another dtype or device.
void vector_to_parameters(const Tensor& vec, const std::vector<Tensor>& parameters);

std::vector<OpDef> parameter_vector_ops();

}  // namespace ohm::ops
