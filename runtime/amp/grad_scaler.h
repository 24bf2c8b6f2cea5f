// Loss scaling: keeps half-precision gradients out of underflow, and skips steps that overflowed.
//
//   Tensor loss = …;
//   backward(scaler.scale(loss));
//   scaler.step(optimizer);   // unscales; does nothing when a gradient is inf or NaN
//   scaler.update();          // halves the scale after such a step, doubles it after 2,000 good
//   ones
#pragma once

#include <cstdint>
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
  /// Returns whether the step was taken. On size-only devices every step is taken. Fused optimizers
  /// divide by the scale themselves: of their gradients it is only found out whether they are
  /// finite. After an OutOfMemory of a step the gradients are divided where they were before it, or
  /// where the optimizer is not fused; the next step goes on from there.
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
  enum class Stage : std::uint8_t { ready, unscaled, stepped };
  /// Since the last update().
  struct OptimizerState {
    const optim::Optimizer* optimizer;
    Stage stage = Stage::ready;
    std::vector<Tensor> found_inf;  ///< one float32 scalar for each device with gradients
  };
  /// What a fused step is given on the device. As PyTorch's attributes of the optimizer they stay
  /// when the step fails.
  struct FusedArguments {
    const optim::Optimizer* optimizer;
    Tensor scale;
    Tensor found_inf;
  };
  struct GradientsOfDevice {
    Device device;
    std::vector<Tensor> grads;
  };

  void create_state(Device device);
  Tensor inverse_scale() const;
  static std::vector<GradientsOfDevice> gradients_by_device(const optim::Optimizer& optimizer);
  /// Multiplies the gradients by `factor`, and returns the flags of their devices.
  static std::vector<Tensor> check_and_multiply(const std::vector<GradientsOfDevice>& devices,
                                                Tensor factor, Tensor found);
  static void multiply(const std::vector<Tensor>& grads, const Tensor& factor, const Tensor& found);
  void check_gradients(const optim::Optimizer& optimizer, OptimizerState& state) const;
  void step_fused(optim::Optimizer& optimizer, OptimizerState& state);
  void divide_and_step(optim::Optimizer& optimizer, bool is_unscaled) const;
  Tensor on_scale_device(const OptimizerState& state) const;
  OptimizerState& state_of(const optim::Optimizer& optimizer);
  FusedArguments& arguments_of(const optim::Optimizer& optimizer);
  bool has_found_inf(const OptimizerState& state) const;

  GradScalerOptions options_;
  std::int64_t first_growth_tracker_ = 0;  ///< while there is none on a device
  Tensor scale_;
  Tensor growth_tracker_;
  std::vector<OptimizerState> optimizers_;  ///< as they came
  std::vector<FusedArguments> arguments_;   ///< of steps that failed
  std::int64_t skipped_steps_ = 0;
};

}  // namespace ohm::amp
