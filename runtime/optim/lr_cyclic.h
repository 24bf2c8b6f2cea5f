// Learning rates that go up and down again and again, and SWALR's, which goes where averages begin.
#pragma once

#include <vector>

#include "runtime/optim/lr_scheduler_row.h"

namespace ohm::optim {

std::vector<LrSchedulerDef> cyclic_lr_schedulers();

}  // namespace ohm::optim
