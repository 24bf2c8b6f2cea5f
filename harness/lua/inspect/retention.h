// Retention: the memory that the variables of a running script keep alive, through tables, modules,
// optimizers, gradients and the autograd graph.
#pragma once

#include <lua.hpp>

#include "harness/scenario/scenario_program.h"
#include "reports/model/run_result.h"
#include "runtime/base/device.h"

namespace ohm::lua {

class Interpreter;

/// Of the memory of `device`, whose live blocks are `blocks`; `bytes` and `other_bytes` of the
/// result are left to the caller. Reads the frames of the running functions, outermost first, the
/// values that they close over, and allocates nothing on a device.
RetentionResult retention_of(Interpreter& interpreter, Device device,
                             const engine::BlockSizes& blocks);

}  // namespace ohm::lua
