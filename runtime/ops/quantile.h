// Quantiles: what a share of the elements is not above, between the elements by interpolation.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// Made of a sort, of places that follow from the share `q`, and of what is gathered there, which
/// is what the gradient goes through. quantile is NaN where one is among the elements, nanquantile
/// leaves them out.
std::vector<OpDef> quantile_ops();

}  // namespace ohm::ops
