#include "runtime/optim/lr_scheduler_list.h"

#include <utility>

#include "runtime/optim/lr_annealing.h"
#include "runtime/optim/lr_cyclic.h"
#include "runtime/optim/lr_decay.h"

namespace ohm::optim {

const std::vector<LrSchedulerDef>& all_lr_schedulers() {
  static const std::vector<LrSchedulerDef> kAll = [] {
    std::vector<LrSchedulerDef> all = decaying_lr_schedulers();
    for (LrSchedulerDef& row : annealing_lr_schedulers()) all.push_back(std::move(row));
    for (LrSchedulerDef& row : cyclic_lr_schedulers()) all.push_back(std::move(row));
    return all;
  }();
  return kAll;
}

}  // namespace ohm::optim
