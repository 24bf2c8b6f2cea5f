#include "runtime/optim/lr_cyclic.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace ohm::optim {
namespace {

struct CyclicOptions {
  double base_lr = 0;
  double max_lr = 0;
  Count steps_up = 2000;
  Count steps_down = 2000;
  std::string mode;  ///< triangular, triangular2 or exp_range
  double gamma = 1.0;
  bool cycles_momentum = true;
  double base_momentum = 0.8;
  double max_momentum = 0.9;
};

/// Up to the highest rate and down again in straight lines, by less from cycle to cycle; the
/// momentum the other way round.
class CyclicLr final : public LrScheduler {
 public:
  CyclicLr(OptimizerPtr optimizer, CyclicOptions options)
      : LrScheduler(std::move(optimizer)), options_(std::move(options)) {
    if (options_.cycles_momentum && !this->optimizer().momentum()) {
      throw std::invalid_argument(
          "[CyclicLR] optimizer must support momentum or beta1 with cycle_momentum = true");
    }
    set_base_lr(options_.base_lr);
    set_lr(options_.base_lr);
    take_first_step();
  }

 protected:
  // The rates between which it goes are the optimizer's in PyTorch.
  std::vector<SchedulerField> own_fields() override {
    return {field("gamma", options_.gamma), field("cycle_momentum", options_.cycles_momentum)};
  }
  double next_lr() override {
    const auto epoch = static_cast<double>(last_epoch());
    const auto up = static_cast<double>(options_.steps_up);
    const double whole = up + static_cast<double>(options_.steps_down);
    const double top = up / whole;
    const double cycle = std::floor(1 + epoch / whole);
    const double at = 1.0 + epoch / whole - cycle;
    const double share = at <= top ? at / top : (at - 1) / (top - 1);
    const double scale = scale_of(cycle, epoch);
    if (options_.cycles_momentum) {
      const double depth = (options_.max_momentum - options_.base_momentum) * share;
      optimizer().set_momentum(options_.max_momentum - depth * scale);
    }
    return base_lr() + (options_.max_lr - base_lr()) * share * scale;
  }

 private:
  double scale_of(double cycle, double epoch) const {
    if (options_.mode == "triangular2") return 1.0 / std::pow(2.0, cycle - 1);
    return options_.mode == "exp_range" ? std::pow(options_.gamma, epoch) : 1.0;
  }

  CyclicOptions options_;
};

LrSchedulerPtr cyclic(OptimizerPtr optimizer, double base_lr, double max_lr, Count step_size_up,
                      std::optional<Count> step_size_down, std::string mode, double gamma,
                      bool cycle_momentum, double base_momentum, double max_momentum) {
  require_count(step_size_up, "CyclicLR", "step_size_up");
  if (step_size_down) require_count(*step_size_down, "CyclicLR", "step_size_down");
  if (mode != "triangular" && mode != "triangular2" && mode != "exp_range") {
    throw std::invalid_argument(fmt::format(
        "[CyclicLR] mode must be \"triangular\", \"triangular2\" or \"exp_range\", got \"{}\"",
        mode));
  }
  return std::make_shared<CyclicLr>(
      std::move(optimizer),
      CyclicOptions{base_lr, max_lr, step_size_up, step_size_down.value_or(step_size_up),
                    std::move(mode), gamma, cycle_momentum, base_momentum, max_momentum});
}

/// To another rate within some epochs, where it stays.
class SwaLr final : public LrScheduler {
 public:
  SwaLr(OptimizerPtr optimizer, double target, Count epochs, bool is_linear)
      : LrScheduler(std::move(optimizer)), target_(target), epochs_(epochs), is_linear_(is_linear) {
    take_first_step();
  }

 protected:
  // The rate that it goes to is the optimizer's in PyTorch.
  std::vector<SchedulerField> own_fields() override { return {field("anneal_epochs", epochs_)}; }
  double next_lr() override {
    const Count step = epochs_ == 0 ? std::max<Count>(1, last_epoch()) : last_epoch();
    const double before = annealed(step - 1);
    const double first = before == 1.0 ? target_ : (current_lr() - before * target_) / (1 - before);
    const double now = annealed(step);
    return target_ * now + first * (1 - now);
  }

 private:
  // How much of the way is behind it after so many steps: from 0 to 1.
  double annealed(Count step) const {
    const double share = std::clamp(
        static_cast<double>(step) / static_cast<double>(std::max<Count>(1, epochs_)), 0.0, 1.0);
    return is_linear_ ? share : (1 - std::cos(std::numbers::pi * share)) / 2;
  }

  double target_;
  Count epochs_;
  bool is_linear_;
};

LrSchedulerPtr swa(OptimizerPtr optimizer, double swa_lr, Count anneal_epochs,
                   std::string anneal_strategy) {
  if (anneal_strategy != "cos" && anneal_strategy != "linear") {
    throw std::invalid_argument(
        fmt::format("[SWALR] anneal_strategy must be one of 'cos' or 'linear', instead got {}",
                    anneal_strategy));
  }
  if (anneal_epochs != 0) require_count(anneal_epochs, "SWALR", "anneal_epochs");
  return std::make_shared<SwaLr>(std::move(optimizer), swa_lr, anneal_epochs,
                                 anneal_strategy == "linear");
}

}  // namespace

std::vector<LrSchedulerDef> cyclic_lr_schedulers() {
  LrSchedulerDef averaging = define_lr_scheduler(
      "SWALR", &swa,
      {"swa_lr", {"anneal_epochs", Count{10}}, {"anneal_strategy", std::string("cos")}});
  averaging.is_of_averages = true;
  return {
      define_lr_scheduler("CyclicLR", &cyclic,
                          {"base_lr",
                           "max_lr",
                           {"step_size_up", Count{2000}},
                           "step_size_down",
                           {"mode", std::string("triangular")},
                           {"gamma", 1.0},
                           {"cycle_momentum", true},
                           {"base_momentum", 0.8},
                           {"max_momentum", 0.9}}),
      std::move(averaging),
  };
}

}  // namespace ohm::optim
