// Learning rates that change over the epochs: PyTorch's schedulers, to the last bits.
//
//   auto scheduler = CosineAnnealingLr(optimizer, 10, 0.0);
//   for each epoch: train(); optimizer.step(); scheduler.step();
//
// Most of them compute a rate from the one before, so that several can act on one optimizer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/optim/optimizer.h"
#include "runtime/optim/scheduler_state.h"

namespace ohm::optim {

class LrScheduler : public StatefulScheduler {
 public:
  virtual ~LrScheduler() = default;
  LrScheduler(const LrScheduler&) = delete;
  LrScheduler& operator=(const LrScheduler&) = delete;

  /// The next epoch: sets the optimizer's learning rate.
  virtual void step();
  /// To epoch 0, for a scheduler that takes over from another one.
  virtual void restart();
  /// As if it had not been made yet: undoes the step that constructors take.
  virtual void undo_first_step() { --last_epoch_; }

  std::int64_t last_epoch() const { return last_epoch_; }
  /// The rate that it set last.
  double last_lr() const { return last_lr_; }
  const OptimizerPtr& optimizer_ptr() const { return optimizer_; }

  std::vector<SchedulerField> fields() final;
  std::vector<SchedulerField> group_fields() final;

 protected:
  /// What it has beside the epoch.
  virtual std::vector<SchedulerField> own_fields() { return {}; }
  /// The optimizer's rate is the first scheduler's base rate, and that of all others on it.
  explicit LrScheduler(OptimizerPtr optimizer);

  /// Constructors end with this: it sets the rate of epoch 0.
  void take_first_step() { step(); }

  /// The rate of last_epoch().
  virtual double next_lr() = 0;
  /// The same without the rate before, where there is a functor for it.
  virtual std::optional<double> closed_form_lr() const { return std::nullopt; }

  Optimizer& optimizer() { return *optimizer_; }
  double current_lr() const { return optimizer_->learning_rate(); }
  double base_lr() const { return base_lr_; }
  void set_base_lr(double lr);
  void set_epoch(std::int64_t epoch) { last_epoch_ = epoch; }
  void set_lr(double lr);

 private:
  OptimizerPtr optimizer_;
  double base_lr_ = 0;
  double last_lr_ = 0;
  std::int64_t last_epoch_ = -1;
};

using LrSchedulerPtr = std::shared_ptr<LrScheduler>;

}  // namespace ohm::optim
