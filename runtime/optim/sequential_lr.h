// Learning rate schedulers one after the other, and several at once.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/optim/lr_scheduler.h"

namespace ohm::optim {

/// The next takes over at each milestone. Throws std::invalid_argument unless
/// there is one milestone less than schedulers, which are all of one optimizer.
LrSchedulerPtr sequential_lr(OptimizerPtr optimizer, std::vector<LrSchedulerPtr> schedulers,
                             std::vector<std::int64_t> milestones);

/// All of them take each step, in their order. Throws std::invalid_argument without any.
LrSchedulerPtr chained_lr(OptimizerPtr optimizer, std::vector<LrSchedulerPtr> schedulers);

}  // namespace ohm::optim
