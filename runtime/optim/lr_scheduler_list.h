// All learning rate schedulers that numbers describe, by name.
#pragma once

#include <vector>

#include "runtime/optim/lr_scheduler_row.h"

namespace ohm::optim {

const std::vector<LrSchedulerDef>& all_lr_schedulers();

}  // namespace ohm::optim
