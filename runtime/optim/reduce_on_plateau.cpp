#include "runtime/optim/reduce_on_plateau.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace ohm::optim {

ReduceLrOnPlateau::ReduceLrOnPlateau(OptimizerPtr optimizer, const Options& options)
    : optimizer_(std::move(optimizer)),
      options_(options),
      best_(options.mode == Mode::min ? std::numeric_limits<double>::infinity()
                                      : -std::numeric_limits<double>::infinity()) {
  take_fields();
}

namespace {

// One of two words.
template <class Choice>
SchedulerField word_field(std::string_view name, Choice& member, std::string_view first,
                          Choice is_first, std::string_view second, Choice is_second) {
  return {name,
          [&member, first, second, is_first] {
            return SchedulerValue(std::string(member == is_first ? first : second));
          },
          [=, &member](const SchedulerValue& value) {
            const auto* word = std::get_if<std::string>(&value);
            if (word == nullptr || (*word != first && *word != second)) {
              throw std::invalid_argument(fmt::format(
                  "[load_state_dict] '{}' must be \"{}\" or \"{}\"", name, first, second));
            }
            member = *word == first ? is_first : is_second;
          }};
}

}  // namespace

std::vector<SchedulerField> ReduceLrOnPlateau::fields() {
  return {field("factor", options_.factor),
          field("patience", options_.patience),
          field("threshold", options_.threshold),
          field("cooldown", options_.cooldown),
          field("eps", options_.eps),
          field("best", best_),
          field("num_bad_epochs", bad_epochs_),
          field("cooldown_counter", cooldown_left_),
          field("last_epoch", last_epoch_),
          word_field("mode", options_.mode, "min", Mode::min, "max", Mode::max),
          word_field("threshold_mode", options_.threshold_mode, "rel", Threshold::relative, "abs",
                     Threshold::absolute)};
}

std::vector<SchedulerField> ReduceLrOnPlateau::group_fields() {
  return {field("min_lrs", options_.min_lr)};
}

void ReduceLrOnPlateau::take_fields() {
  if (options_.factor < 1.0) return;
  throw std::invalid_argument("[ReduceLROnPlateau] factor should be < 1.0");
}

bool ReduceLrOnPlateau::is_better(double metric) const {
  const bool wants_less = options_.mode == Mode::min;
  const double sign = wants_less ? -1.0 : 1.0;
  const double limit = options_.threshold_mode == Threshold::relative
                           ? best_ * (1.0 + sign * options_.threshold)
                           : best_ + sign * options_.threshold;
  return wants_less ? metric < limit : metric > limit;
}

void ReduceLrOnPlateau::step(double metric) {
  ++last_epoch_;
  if (is_better(metric)) {
    best_ = metric;
    bad_epochs_ = 0;
  } else {
    ++bad_epochs_;
  }
  if (cooldown_left_ > 0) {
    --cooldown_left_;
    bad_epochs_ = 0;
  }
  if (bad_epochs_ <= options_.patience) return;
  reduce();
  cooldown_left_ = options_.cooldown;
  bad_epochs_ = 0;
}

void ReduceLrOnPlateau::reduce() {
  const double old = optimizer_->learning_rate();
  const double lowered = std::max(old * options_.factor, options_.min_lr);
  if (old - lowered > options_.eps) optimizer_->set_learning_rate(lowered);
}

}  // namespace ohm::optim
