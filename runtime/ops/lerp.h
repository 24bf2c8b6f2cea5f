// Two or three tensors in one kernel: lerp, addcmul, addcdiv, atan2.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

std::vector<OpDef> lerp_ops();

}  // namespace ohm::ops
