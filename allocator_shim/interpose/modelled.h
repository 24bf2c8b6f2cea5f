// The list of assumptions behind what the program was told: noted for each GPU, from any thread and
// without a lock. The recorder asks for it by ohm_modelled when the process ends.
#pragma once

#include "allocator_shim/base/assumption.h"

namespace ohm::interpose {

using ohm::Assumption;

void note_assumption(int device, Assumption assumption);

}  // namespace ohm::interpose
