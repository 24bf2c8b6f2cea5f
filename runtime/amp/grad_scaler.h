// Loss scaling: keeps half-precision gradients out of underflow, and skips steps that overflowed.
//
//   Tensor loss = …;
//   backward(scaler.scale(loss));
//   scaler.step(optimizer);   // unscales; does nothing when a gradient is inf or NaN
//   scaler.update();          // halves the scale after such a step, doubles it after 2,000 good
//   ones
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/optim/optimizer.h"
#include "runtime/tensor/tensor.h"

namespace ohm::amp {

struct GradScalerOptions {
  double init_scale = 65536.0;
  double growth_factor = 2.0;
  double backoff_factor = 0.5;
  std::int64_t growth_interval = 2000;
  bool enabled = true;  ///< false: every call passes through
};

/// What goes on in another program, by PyTorch's names.
struct GradScalerState {
  double scale = 0;
  double growth_factor = 0;
  double backoff_factor = 0;
  std::int64_t growth_interval = 0;
  std::int64_t growth_tracker = 0;  ///< good steps since the scale changed last
};

/// On the device from the first scale() on: the scale (float32) and the count of good steps
/// (int32), 512 bytes each; for each optimizer one flag per device from its unscaling until
/// update().
class GradScaler {
 public:
  /// Throws std::invalid_argument for a growth factor <= 1 or a backoff factor outside (0, 1).
  explicit GradScaler(const GradScalerOptions& options);

  /// loss · scale, in the graph.
  Tensor scale(const Tensor& loss);

  /// Divides the optimizer's gradients by the scale in place and notes whether one is not finite.
  /// Throws std::invalid_argument when called twice before update(), or for float16 gradients.
  /// After an OutOfMemory no gradient was divided.
  void unscale(optim::Optimizer& optimizer);

  /// Unscales if that was not done, then optimizer.step() unless a gradient was not finite.
  /// Returns whether the step was taken. On size-only devices every step is taken.
  bool step(optim::Optimizer& optimizer);

  /// Adapts the scale. Throws std::invalid_argument when nothing was unscaled since the last time.
  void update();

  /// The current scale, as a script reads it: NaN on size-only devices once it lies there.
  double get_scale() const;

  /// As a script reads it: on size-only devices the scale is NaN and no step is counted.
  /// Pre-condition of both: it is enabled.
  GradScalerState state() const;
  /// What is on the device keeps its place. Throws std::invalid_argument as the constructor does;
  /// nothing is changed then.
  void load_state(const GradScalerState& state);

  bool is_enabled() const { return options_.enabled; }
  /// Steps left out so far because a gradient was not finite.
  std::int64_t skipped_steps() const { return skipped_steps_; }

 private:
  struct OptimizerState {
    std::vector<Tensor> found_inf;  ///< one float32 scalar for each device with gradients
    bool is_stepped = false;        ///< since the last update()
  };

  void create_state(Device device);
  Tensor inverse_scale() const;
  Tensor factor_for(const optim::Optimizer& optimizer) const;
  static void multiply(const std::vector<Tensor>& grads, const Tensor& factor, const Tensor& found);
  Tensor on_scale_device(const OptimizerState& state) const;
  /// Of an optimizer that was unscaled since the last update(); null for others.
  OptimizerState* state_of(const optim::Optimizer& optimizer);
  bool has_found_inf(const OptimizerState& state) const;

  GradScalerOptions options_;
  std::int64_t first_growth_tracker_ = 0;  ///< while there is none on a device
  Tensor scale_;
  Tensor growth_tracker_;
  std::vector<std::pair<const optim::Optimizer*, OptimizerState>> optimizers_;  ///< as they came
  std::int64_t skipped_steps_ = 0;
};

}  // namespace ohm::amp
