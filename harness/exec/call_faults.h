// Faults of CUDA calls that a plan names (call(NAME) -> error(KIND)).
#pragma once

#include "allocator_shim/fault/fault_plan.h"

namespace ohm::engine {

/// Throws std::invalid_argument for a function that the stand-in libraries do not have, and for an
/// error that its library does not know.
void check_call_faults(const FaultPlan& plan);

}  // namespace ohm::engine
