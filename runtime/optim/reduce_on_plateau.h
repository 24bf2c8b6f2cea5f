// A learning rate that falls when nothing improves any more.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/optim/optimizer.h"
#include "runtime/optim/scheduler_state.h"

namespace ohm::optim {

/// Lowers the rate when a measured value has stopped to improve.
class ReduceLrOnPlateau final : public StatefulScheduler {
 public:
  enum class Mode : std::uint8_t { min, max };
  enum class Threshold : std::uint8_t { relative, absolute };
  struct Options {
    Mode mode = Mode::min;
    double factor = 0.1;
    std::int64_t patience = 10;
    double threshold = 1e-4;
    Threshold threshold_mode = Threshold::relative;
    std::int64_t cooldown = 0;
    double min_lr = 0;
    double eps = 1e-8;  ///< smaller changes of the rate are not made
  };

  /// Throws std::invalid_argument for a factor of 1 or more.
  ReduceLrOnPlateau(OptimizerPtr optimizer, const Options& options);
  void step(double metric);

  std::int64_t last_epoch() const { return last_epoch_; }
  double last_lr() const { return optimizer_->learning_rate(); }

  std::vector<SchedulerField> fields() override;
  std::vector<SchedulerField> group_fields() override;
  void take_fields() override;

 private:
  bool is_better(double metric) const;
  void reduce();

  OptimizerPtr optimizer_;
  Options options_;
  std::int64_t last_epoch_ = 0;
  double best_;
  std::int64_t bad_epochs_ = 0;
  std::int64_t cooldown_left_ = 0;
};

}  // namespace ohm::optim
