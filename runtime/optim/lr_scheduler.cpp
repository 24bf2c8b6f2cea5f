#include "runtime/optim/lr_scheduler.h"

#include <utility>

namespace ohm::optim {

LrScheduler::LrScheduler(OptimizerPtr optimizer) : optimizer_(std::move(optimizer)) {
  base_lr_ = optimizer_->initial_learning_rate().value_or(optimizer_->learning_rate());
  optimizer_->set_initial_learning_rate(base_lr_);
  last_lr_ = base_lr_;
}

void LrScheduler::set_base_lr(double lr) {
  base_lr_ = lr;
  optimizer_->set_initial_learning_rate(lr);
}

void LrScheduler::set_lr(double lr) {
  optimizer_->set_learning_rate(lr);
  last_lr_ = lr;
}

void LrScheduler::step() {
  ++last_epoch_;
  set_lr(next_lr());
}

void LrScheduler::restart() {
  last_epoch_ = 0;
  const std::optional<double> closed = closed_form_lr();
  set_lr(closed ? *closed : next_lr());
}

std::vector<SchedulerField> LrScheduler::fields() {
  std::vector<SchedulerField> all = own_fields();
  all.push_back(field("last_epoch", last_epoch_));
  return all;
}

std::vector<SchedulerField> LrScheduler::group_fields() {
  return {field("base_lrs", base_lr_), field("_last_lr", last_lr_)};
}

}  // namespace ohm::optim
