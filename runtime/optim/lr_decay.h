// Learning rates that fall in steps or by a factor.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/optim/lr_scheduler_row.h"

namespace ohm::optim {

/// base · factor(epoch)
LrSchedulerPtr lambda_lr(OptimizerPtr optimizer, std::function<double(std::int64_t epoch)> factor);

std::vector<LrSchedulerDef> decaying_lr_schedulers();

}  // namespace ohm::optim
