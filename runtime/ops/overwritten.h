// Further ops that write over their input: parts of matrices, choices, draws and truth values.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

std::vector<OpDef> overwritten_ops();

}  // namespace ohm::ops
