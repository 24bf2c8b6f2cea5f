// All parameters of a model as one vector, and back.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// Their elements, one parameter after the other, in the graph. Throws std::invalid_argument where
/// they are not all on one device, or there are none.
Tensor parameters_to_vector(const std::vector<Tensor>& parameters);

/// From here on the parameters are pieces of `vector`, whose memory they share. Throws
/// std::invalid_argument where it is too short, or of another device.
void vector_to_parameters(const Tensor& vector, const std::vector<Tensor>& parameters);

std::vector<OpDef> parameter_vector_ops();

}  // namespace ohm::ops
