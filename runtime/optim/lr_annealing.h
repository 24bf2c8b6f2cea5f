// Learning rates along cosines, and OneCycleLR.
#pragma once

#include <vector>

#include "runtime/optim/lr_scheduler_row.h"

namespace ohm::optim {

std::vector<LrSchedulerDef> annealing_lr_schedulers();

}  // namespace ohm::optim
