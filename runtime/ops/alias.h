// Views and copies under other names, and by other arguments, than those of view.h and arrange.h.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

std::vector<OpDef> alias_ops();

}  // namespace ohm::ops
