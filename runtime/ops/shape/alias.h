// Views and copies under other names, and by other arguments, than those of view.h and rearrange.h.
#pragma once

#include <string>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// Each of the lines along a dimension of its own: expanded views.
std::vector<Tensor> meshgrid(const std::vector<Tensor>& tensors, const std::string& indexing);

std::vector<OpDef> alias_ops();

}  // namespace ohm::ops
