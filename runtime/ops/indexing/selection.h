// Elements that are chosen by values: see nonzero.h.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// The elements where the mask is true, in a row; both are broadcast. The gradient is written into
/// zeros. Saves mask and input.
Tensor masked_select(const Tensor& input, const Tensor& mask);

std::vector<OpDef> selection_ops();

}  // namespace ohm::ops
