#include "runtime/optim/sequential_lr.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace ohm::optim {
namespace {

class SequentialLr final : public LrScheduler {
 public:
  SequentialLr(OptimizerPtr optimizer, std::vector<LrSchedulerPtr> schedulers,
               std::vector<std::int64_t> milestones)
      : LrScheduler(std::move(optimizer)),
        schedulers_(std::move(schedulers)),
        milestones_(std::move(milestones)) {
    if (schedulers_.empty()) {
      throw std::invalid_argument("[SequentialLR] needs at least one scheduler");
    }
    take_fields();
    set_lr(base_lr());
    for (const LrSchedulerPtr& scheduler : schedulers_) scheduler->undo_first_step();
    schedulers_.front()->step();
    set_epoch(0);
    set_lr(schedulers_.front()->last_lr());
  }

  void step() override {
    set_epoch(last_epoch() + 1);
    const auto passed = std::upper_bound(milestones_.begin(), milestones_.end(), last_epoch());
    LrScheduler& current = *schedulers_[static_cast<std::size_t>(passed - milestones_.begin())];
    const bool takes_over = passed != milestones_.begin() && *(passed - 1) == last_epoch();
    if (takes_over) {
      current.restart();
    } else {
      current.step();
    }
    set_lr(current.last_lr());
  }

  std::vector<StatefulScheduler*> parts() override {
    std::vector<StatefulScheduler*> parts;
    for (const LrSchedulerPtr& scheduler : schedulers_) parts.push_back(scheduler.get());
    return parts;
  }
  void take_fields() override {
    if (milestones_.size() + 1 == schedulers_.size()) return;
    throw std::invalid_argument(
        fmt::format("[SequentialLR] {} schedulers need {} milestones, got {}", schedulers_.size(),
                    schedulers_.size() - 1, milestones_.size()));
  }

 protected:
  std::vector<SchedulerField> own_fields() override { return {field("_milestones", milestones_)}; }
  double next_lr() override { return current_lr(); }

 private:
  std::vector<LrSchedulerPtr> schedulers_;
  std::vector<std::int64_t> milestones_;
};

class ChainedScheduler final : public LrScheduler {
 public:
  ChainedScheduler(OptimizerPtr optimizer, std::vector<LrSchedulerPtr> schedulers)
      : LrScheduler(std::move(optimizer)), schedulers_(std::move(schedulers)) {
    if (schedulers_.empty()) {
      throw std::invalid_argument("[ChainedScheduler] needs at least one scheduler");
    }
    set_epoch(0);
    set_lr(current_lr());
  }

  void step() override {
    set_epoch(last_epoch() + 1);
    for (const LrSchedulerPtr& scheduler : schedulers_) scheduler->step();
    set_lr(current_lr());
  }

  std::vector<StatefulScheduler*> parts() override {
    std::vector<StatefulScheduler*> parts;
    for (const LrSchedulerPtr& scheduler : schedulers_) parts.push_back(scheduler.get());
    return parts;
  }

 protected:
  double next_lr() override { return current_lr(); }

 private:
  std::vector<LrSchedulerPtr> schedulers_;
};

}  // namespace

LrSchedulerPtr chained_lr(OptimizerPtr optimizer, std::vector<LrSchedulerPtr> schedulers) {
  return std::make_shared<ChainedScheduler>(std::move(optimizer), std::move(schedulers));
}

LrSchedulerPtr sequential_lr(OptimizerPtr optimizer, std::vector<LrSchedulerPtr> schedulers,
                             std::vector<std::int64_t> milestones) {
  return std::make_shared<SequentialLr>(std::move(optimizer), std::move(schedulers),
                                        std::move(milestones));
}

}  // namespace ohm::optim
