#include "runtime/optim/lr_scheduler.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <utility>

namespace ohm::optim {
namespace {

constexpr double kPi = std::numbers::pi;

// Epochs are counted in 64 bits: twice and squared, too.
void require_count(std::int64_t count, std::string_view scheduler, std::string_view argument) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
  if (count >= 1 && count <= kLargest) return;
  throw std::invalid_argument(
      fmt::format("[{}] {} must be from 1 to {}, got {}", scheduler, argument, kLargest, count));
}

}  // namespace

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

class PolynomialLr final : public LrScheduler {
 public:
  PolynomialLr(OptimizerPtr optimizer, std::int64_t total, double power)
      : LrScheduler(std::move(optimizer)), total_(static_cast<double>(total)), power_(power) {
    take_first_step();
  }

 protected:
  std::vector<SchedulerField> own_fields() override {
    return {field("total_iters", total_), field("power", power_)};
  }
  double next_lr() override {
    const auto epoch = static_cast<double>(last_epoch());
    if (epoch == 0 || epoch > total_) return current_lr();
    return current_lr() * std::pow((1.0 - epoch / total_) / (1.0 - (epoch - 1) / total_), power_);
  }
  std::optional<double> closed_form_lr() const override {
    const double epoch = std::min(total_, static_cast<double>(last_epoch()));
    return base_lr() * std::pow(1.0 - epoch / total_, power_);
  }

 private:
  double total_;
  double power_;
};

class CosineAnnealingLr final : public LrScheduler {
 public:
  CosineAnnealingLr(OptimizerPtr optimizer, std::int64_t period, double lowest)
      : LrScheduler(std::move(optimizer)), period_(period), lowest_(lowest) {
    take_fields();
    take_first_step();
  }

  void take_fields() override { require_count(period_, "CosineAnnealingLR", "T_max"); }

 protected:
  std::vector<SchedulerField> own_fields() override {
    return {field("T_max", period_), field("eta_min", lowest_)};
  }
  double next_lr() override {
    const auto period = static_cast<double>(period_);
    const auto epoch = static_cast<double>(last_epoch());
    if (last_epoch() == 0) return current_lr();
    if ((last_epoch() - 1 - period_) % (2 * period_) == 0) {
      return current_lr() + (base_lr() - lowest_) * (1 - std::cos(kPi / period)) / 2;
    }
    return (1 + std::cos(kPi * epoch / period)) / (1 + std::cos(kPi * (epoch - 1) / period)) *
               (current_lr() - lowest_) +
           lowest_;
  }
  std::optional<double> closed_form_lr() const override {
    const double phase = kPi * static_cast<double>(last_epoch()) / static_cast<double>(period_);
    return lowest_ + (base_lr() - lowest_) * (1 + std::cos(phase)) / 2;
  }

 private:
  std::int64_t period_;
  double lowest_;
};

class CosineAnnealingWarmRestarts final : public LrScheduler {
 public:
  CosineAnnealingWarmRestarts(OptimizerPtr optimizer, std::int64_t first, std::int64_t multiplier,
                              double lowest)
      : LrScheduler(std::move(optimizer)),
        first_(first),
        multiplier_(multiplier),
        lowest_(lowest),
        period_(first) {
    take_fields();
    take_first_step();
  }

  void take_fields() override {
    require_count(first_, "CosineAnnealingWarmRestarts", "T_0");
    require_count(multiplier_, "CosineAnnealingWarmRestarts", "T_mult");
    require_count(period_, "CosineAnnealingWarmRestarts", "T_i");
  }

  void step() override {
    if (last_epoch() < 0) return restart();
    if (++at_ >= period_) {
      at_ -= period_;
      period_ *= multiplier_;
    }
    LrScheduler::step();
  }
  void restart() override {
    at_ = 0;
    period_ = first_;
    LrScheduler::restart();
  }

 protected:
  std::vector<SchedulerField> own_fields() override {
    return {field("T_0", first_), field("T_i", period_), field("T_mult", multiplier_),
            field("eta_min", lowest_), field("T_cur", at_)};
  }
  double next_lr() override {
    const double phase = kPi * static_cast<double>(at_) / static_cast<double>(period_);
    return lowest_ + (base_lr() - lowest_) * (1 + std::cos(phase)) / 2;
  }

 private:
  std::int64_t first_;
  std::int64_t multiplier_;
  double lowest_;
  std::int64_t period_;
  std::int64_t at_ = -1;
};

class FactorLr final : public LrScheduler {
 public:
  enum class Of : std::uint8_t { base_rate, rate_before };

  FactorLr(OptimizerPtr optimizer, std::function<double(std::int64_t)> factor, Of of)
      : LrScheduler(std::move(optimizer)), factor_(std::move(factor)), of_(of) {
    take_first_step();
  }

 protected:
  double next_lr() override {
    if (of_ == Of::base_rate) return base_lr() * factor_(last_epoch());
    return last_epoch() > 0 ? current_lr() * factor_(last_epoch()) : current_lr();
  }

 private:
  std::function<double(std::int64_t)> factor_;
  Of of_;
};

// ---- one cycle ----------------------------------------------------------------------------------

struct OneCycleOptions {
  double max_lr = 0;
  std::int64_t total_steps = 0;
  double pct_start = 0.3;
  bool is_linear = false;
  bool cycles_momentum = true;
  double base_momentum = 0.85;
  double max_momentum = 0.95;
  double div_factor = 25;
  double final_div_factor = 1e4;
  bool has_three_phases = false;
};

/// Up, down, and out; the momentum the other way round.
class OneCycleLr final : public LrScheduler {
 public:
  OneCycleLr(OptimizerPtr optimizer, const OneCycleOptions& options)
      : LrScheduler(std::move(optimizer)), options_(options) {
    if (options_.cycles_momentum && !this->optimizer().momentum()) {
      throw std::invalid_argument(
          "[OneCycleLR] optimizer must support momentum or beta1 with cycle_momentum = true");
    }
    set_base_lr(options_.max_lr / options_.div_factor);
    make_phases();
    take_first_step();
  }

  void take_fields() override {
    require_count(options_.total_steps, "OneCycleLR", "total_steps");
    phases_.clear();
    make_phases();
  }

 protected:
  // The rates and momenta between which it goes are the optimizer's in PyTorch.
  std::vector<SchedulerField> own_fields() override {
    return {field("total_steps", options_.total_steps), field("pct_start", options_.pct_start),
            field("three_phase", options_.has_three_phases),
            field("cycle_momentum", options_.cycles_momentum)};
  }
  double next_lr() override {
    const auto at = static_cast<double>(last_epoch());
    if (last_epoch() > options_.total_steps) {
      throw std::invalid_argument(
          fmt::format("[OneCycleLR] step {} of {}", last_epoch(), options_.total_steps));
    }
    double start = 0;
    const Phase* phase = phases_.data();
    while (at > phase->end && phase != &phases_.back()) start = (phase++)->end;
    const double share = (at - start) / (phase->end - start);
    if (options_.cycles_momentum) {
      optimizer().set_momentum(annealed(phase->from_momentum, phase->to_momentum, share));
    }
    return annealed(phase->from_lr, phase->to_lr, share);
  }

 private:
  struct Phase {
    double end;
    double from_lr;
    double to_lr;
    double from_momentum;
    double to_momentum;
  };

  void make_phases() {
    const OneCycleOptions& o = options_;
    const double lowest = base_lr() / o.final_div_factor;
    const auto total = static_cast<double>(o.total_steps);
    const double up = o.pct_start * total - 1;
    phases_.push_back({up, base_lr(), o.max_lr, o.max_momentum, o.base_momentum});
    if (o.has_three_phases) {
      phases_.push_back(
          {2 * o.pct_start * total - 2, o.max_lr, base_lr(), o.base_momentum, o.max_momentum});
      phases_.push_back({total - 1, base_lr(), lowest, o.max_momentum, o.max_momentum});
    } else {
      phases_.push_back({total - 1, o.max_lr, lowest, o.base_momentum, o.max_momentum});
    }
  }

  double annealed(double from, double to, double share) const {
    if (options_.is_linear) return (to - from) * share + from;
    return to + (from - to) / 2.0 * (std::cos(kPi * share) + 1);
  }

  OneCycleOptions options_;
  std::vector<Phase> phases_;
};

// ---- one after the other ------------------------------------------------------------------------

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

// ---- the rows -----------------------------------------------------------------------------------

template <class... Args>
LrSchedulerDef define(std::string_view name, LrSchedulerPtr (*make)(OptimizerPtr, Args...),
                      std::vector<ops::ParamName> names) {
  auto call = [make](OptimizerPtr optimizer, std::span<const ops::Value> values) {
    const auto expand = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return make(optimizer, ops::ParamTraits<std::decay_t<Args>>::get(values[I])...);
    };
    return expand(std::index_sequence_for<Args...>());
  };
  return {name, ops::params_of<Args...>(std::move(names)), std::move(call)};
}

template <class Scheduler, class... Args>
LrSchedulerPtr made(OptimizerPtr optimizer, Args... arguments) {
  return std::make_shared<Scheduler>(std::move(optimizer), std::move(arguments)...);
}

using Count = std::int64_t;

LrSchedulerPtr one_cycle(OptimizerPtr optimizer, double max_lr, std::optional<Count> total_steps,
                         std::optional<Count> epochs, std::optional<Count> steps_per_epoch,
                         double pct_start, std::string anneal_strategy, bool cycle_momentum,
                         double base_momentum, double max_momentum, double div_factor,
                         double final_div_factor, bool three_phase) {
  if (!total_steps && !(epochs && steps_per_epoch)) {
    throw std::invalid_argument(
        "[OneCycleLR] needs total_steps, or both epochs and steps_per_epoch");
  }
  if (!total_steps) {
    require_count(*epochs, "OneCycleLR", "epochs");
    require_count(*steps_per_epoch, "OneCycleLR", "steps_per_epoch");
  }
  const Count total = total_steps ? *total_steps : *epochs * *steps_per_epoch;
  require_count(total, "OneCycleLR", "total_steps");
  if (anneal_strategy != "cos" && anneal_strategy != "linear") {
    throw std::invalid_argument(fmt::format(
        "[OneCycleLR] anneal_strategy must be \"cos\" or \"linear\", got \"{}\"", anneal_strategy));
  }
  return std::make_shared<OneCycleLr>(
      std::move(optimizer),
      OneCycleOptions{max_lr, total, pct_start, anneal_strategy == "linear", cycle_momentum,
                      base_momentum, max_momentum, div_factor, final_div_factor, three_phase});
}

}  // namespace

LrSchedulerPtr lambda_lr(OptimizerPtr optimizer, std::function<double(std::int64_t)> factor) {
  return std::make_shared<FactorLr>(std::move(optimizer), std::move(factor),
                                    FactorLr::Of::base_rate);
}

LrSchedulerPtr multiplicative_lr(OptimizerPtr optimizer,
                                 std::function<double(std::int64_t)> factor) {
  return std::make_shared<FactorLr>(std::move(optimizer), std::move(factor),
                                    FactorLr::Of::rate_before);
}

LrSchedulerPtr sequential_lr(OptimizerPtr optimizer, std::vector<LrSchedulerPtr> schedulers,
                             std::vector<std::int64_t> milestones) {
  return std::make_shared<SequentialLr>(std::move(optimizer), std::move(schedulers),
                                        std::move(milestones));
}

const std::vector<LrSchedulerDef>& all_lr_schedulers() {
  static const std::vector<LrSchedulerDef> schedulers = {
      define("StepLR", &made<StepLr, Count, double>, {"step_size", {"gamma", 0.1}}),
      define("MultiStepLR", &made<MultiStepLr, std::vector<double>, double>,
             {"milestones", {"gamma", 0.1}}),
      define("ConstantLR", &made<ConstantLr, double, Count>,
             {{"factor", 1.0 / 3}, {"total_iters", Count{5}}}),
      define("LinearLR", &made<LinearLr, double, double, Count>,
             {{"start_factor", 1.0 / 3}, {"end_factor", 1.0}, {"total_iters", Count{5}}}),
      define("ExponentialLR", &made<ExponentialLr, double>, {"gamma"}),
      define("PolynomialLR", &made<PolynomialLr, Count, double>,
             {{"total_iters", Count{5}}, {"power", 1.0}}),
      define("CosineAnnealingLR", &made<CosineAnnealingLr, Count, double>,
             {"T_max", {"eta_min", 0.0}}),
      define("CosineAnnealingWarmRestarts",
             &made<CosineAnnealingWarmRestarts, Count, Count, double>,
             {"T_0", {"T_mult", Count{1}}, {"eta_min", 0.0}}),
      define("OneCycleLR", &one_cycle,
             {"max_lr",
              "total_steps",
              "epochs",
              "steps_per_epoch",
              {"pct_start", 0.3},
              {"anneal_strategy", std::string("cos")},
              {"cycle_momentum", true},
              {"base_momentum", 0.85},
              {"max_momentum", 0.95},
              {"div_factor", 25.0},
              {"final_div_factor", 1e4},
              {"three_phase", false}}),
  };
  return schedulers;
}

}  // namespace ohm::optim
