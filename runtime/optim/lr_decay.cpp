#include "runtime/optim/lr_decay.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ohm::optim {
namespace {

// ---- rates that fall in steps -------------------------------------------------------------------

class StepLr final : public LrScheduler {
 public:
  StepLr(OptimizerPtr optimizer, std::int64_t step_size, double gamma)
      : LrScheduler(std::move(optimizer)), step_size_(step_size), gamma_(gamma) {
    take_fields();
    take_first_step();
  }

  void take_fields() override { require_count(step_size_, "StepLR", "step_size"); }

 protected:
  std::vector<SchedulerField> own_fields() override {
    return {field("step_size", step_size_), field("gamma", gamma_)};
  }
  double next_lr() override {
    const bool falls = last_epoch() != 0 && last_epoch() % step_size_ == 0;
    return falls ? current_lr() * gamma_ : current_lr();
  }
  std::optional<double> closed_form_lr() const override {
    const std::int64_t falls = last_epoch() / step_size_;
    return base_lr() * std::pow(gamma_, static_cast<double>(falls));
  }

 private:
  std::int64_t step_size_;
  double gamma_;
};

class MultiStepLr final : public LrScheduler {
 public:
  MultiStepLr(OptimizerPtr optimizer, std::vector<double> milestones, double gamma)
      : LrScheduler(std::move(optimizer)), milestones_(std::move(milestones)), gamma_(gamma) {
    take_fields();
    take_first_step();
  }

  void take_fields() override { std::sort(milestones_.begin(), milestones_.end()); }

 protected:
  std::vector<SchedulerField> own_fields() override {
    return {field("milestones", milestones_), field("gamma", gamma_)};
  }
  double next_lr() override {
    const auto epoch = static_cast<double>(last_epoch());
    const auto times = std::count(milestones_.begin(), milestones_.end(), epoch);
    return times == 0 ? current_lr() : current_lr() * std::pow(gamma_, static_cast<double>(times));
  }
  std::optional<double> closed_form_lr() const override {
    const auto epoch = static_cast<double>(last_epoch());
    const auto passed = std::upper_bound(milestones_.begin(), milestones_.end(), epoch);
    return base_lr() * std::pow(gamma_, static_cast<double>(passed - milestones_.begin()));
  }

 private:
  std::vector<double> milestones_;
  double gamma_;
};

class ConstantLr final : public LrScheduler {
 public:
  ConstantLr(OptimizerPtr optimizer, double factor, std::int64_t total)
      : LrScheduler(std::move(optimizer)), factor_(factor), total_(total) {
    if (!(factor > 0 && factor <= 1)) {
      throw std::invalid_argument("[ConstantLR] factor must be above 0 and at most 1");
    }
    take_first_step();
  }

 protected:
  std::vector<SchedulerField> own_fields() override {
    return {field("factor", factor_), field("total_iters", total_)};
  }
  double next_lr() override {
    if (last_epoch() == 0) return current_lr() * factor_;
    return last_epoch() == total_ ? current_lr() * (1.0 / factor_) : current_lr();
  }
  std::optional<double> closed_form_lr() const override {
    return last_epoch() >= total_ ? base_lr() * (factor_ + (1 - factor_)) : base_lr() * factor_;
  }

 private:
  double factor_;
  std::int64_t total_;
};

// ---- rates that change every epoch --------------------------------------------------------------

class LinearLr final : public LrScheduler {
 public:
  LinearLr(OptimizerPtr optimizer, double start, double end, std::int64_t total)
      : LrScheduler(std::move(optimizer)),
        start_(start),
        end_(end),
        total_(static_cast<double>(total)) {
    if (!(start > 0 && start <= 1) || !(end >= 0 && end <= 1)) {
      throw std::invalid_argument(
          "[LinearLR] start_factor must be above 0 and both factors at most 1");
    }
    take_first_step();
  }

 protected:
  std::vector<SchedulerField> own_fields() override {
    return {field("start_factor", start_), field("end_factor", end_), field("total_iters", total_)};
  }
  double next_lr() override {
    const auto epoch = static_cast<double>(last_epoch());
    if (epoch == 0) return current_lr() * start_;
    if (epoch > total_) return current_lr();
    return current_lr() *
           (1.0 + (end_ - start_) / (total_ * start_ + (epoch - 1) * (end_ - start_)));
  }
  std::optional<double> closed_form_lr() const override {
    const double epoch = std::min(total_, static_cast<double>(last_epoch()));
    return base_lr() * (start_ + (end_ - start_) * epoch / total_);
  }

 private:
  double start_;
  double end_;
  double total_;
};

class ExponentialLr final : public LrScheduler {
 public:
  ExponentialLr(OptimizerPtr optimizer, double gamma)
      : LrScheduler(std::move(optimizer)), gamma_(gamma) {
    take_first_step();
  }

 protected:
  std::vector<SchedulerField> own_fields() override { return {field("gamma", gamma_)}; }
  double next_lr() override { return last_epoch() == 0 ? current_lr() : current_lr() * gamma_; }
  std::optional<double> closed_form_lr() const override {
    return base_lr() * std::pow(gamma_, static_cast<double>(last_epoch()));
  }

 private:
  double gamma_;
};

class LambdaLr final : public LrScheduler {
 public:
  LambdaLr(OptimizerPtr optimizer, std::function<double(std::int64_t)> factor)
      : LrScheduler(std::move(optimizer)), factor_(std::move(factor)) {
    take_first_step();
  }

 protected:
  double next_lr() override { return base_lr() * factor_(last_epoch()); }

 private:
  std::function<double(std::int64_t)> factor_;
};

}  // namespace

LrSchedulerPtr lambda_lr(OptimizerPtr optimizer, std::function<double(std::int64_t)> factor) {
  return std::make_shared<LambdaLr>(std::move(optimizer), std::move(factor));
}

std::vector<LrSchedulerDef> decaying_lr_schedulers() {
  return {
      define_lr_scheduler("StepLR", &made_lr_scheduler<StepLr, Count, double>,
                          {"step_size", {"gamma", 0.1}}),
      define_lr_scheduler("MultiStepLR",
                          &made_lr_scheduler<MultiStepLr, std::vector<double>, double>,
                          {"milestones", {"gamma", 0.1}}),
      define_lr_scheduler("ConstantLR", &made_lr_scheduler<ConstantLr, double, Count>,
                          {{"factor", 1.0 / 3}, {"total_iters", Count{5}}}),
      define_lr_scheduler(
          "LinearLR", &made_lr_scheduler<LinearLr, double, double, Count>,
          {{"start_factor", 1.0 / 3}, {"end_factor", 1.0}, {"total_iters", Count{5}}}),
      define_lr_scheduler("ExponentialLR", &made_lr_scheduler<ExponentialLr, double>, {"gamma"}),
  };
}

}  // namespace ohm::optim
