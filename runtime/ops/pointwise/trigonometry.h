// Hyperbolic functions, inverses of the trigonometric ones, and powers of two.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

std::vector<OpDef> trigonometry_ops();

}  // namespace ohm::ops
