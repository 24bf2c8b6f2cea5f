#include "runtime/optim/lr_annealing.h"

#include <fmt/core.h>

#include <cmath>
#include <numbers>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace ohm::optim {
namespace {

constexpr double kPi = std::numbers::pi;

// ---- cosines ------------------------------------------------------------------------------------

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

std::vector<LrSchedulerDef> annealing_lr_schedulers() {
  return {
      define_lr_scheduler("CosineAnnealingLR", &made_lr_scheduler<CosineAnnealingLr, Count, double>,
                          {"T_max", {"eta_min", 0.0}}),
      define_lr_scheduler("CosineAnnealingWarmRestarts",
                          &made_lr_scheduler<CosineAnnealingWarmRestarts, Count, Count, double>,
                          {"T_0", {"T_mult", Count{1}}, {"eta_min", 0.0}}),
      define_lr_scheduler("OneCycleLR", &one_cycle,
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
}

}  // namespace ohm::optim
