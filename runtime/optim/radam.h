// RAdam: Adam with a rectified variance.
//
//   m = β₁m + (1−β₁)g;  v = β₂v + (1−β₂)g²;  m̂ = m / (1−β₁ᵗ)
//   p −= lr · m̂ · r √(1−β₂ᵗ) / (√v + ε) once there are enough steps (ρₜ > 5), before that lr · m̂
//
// State: exp_avg and exp_avg_sq of the parameter's size; the step count on the host. Temporaries:
// foreach makes one list of the parameters' sizes, the for-loop form up to four tensors of one
// parameter's size.
#pragma once

#include <optional>

#include "runtime/optim/update_kernel.h"

namespace ohm::optim {

struct RadamOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.0;
  bool decoupled_weight_decay = false;
  bool maximize = false;
  Form form = Form::for_loop;
};

class Radam final : public Optimizer {
 public:
  Radam(std::vector<Tensor> parameters, const RadamOptions& options);

  std::string_view type_name() const override { return "RAdam"; }
  std::vector<std::string_view> state_names() const override {
    return {"step", "exp_avg", "exp_avg_sq"};
  }

 protected:
  void make_state(ParameterState& state) override;
  void update_list(const States& states) override;
  void update_each(const States& states) override;

 private:
  GradientRule rule() const;
  double first_correction(const ParameterState& state) const;   ///< 1 − β₁ᵗ
  double second_correction(const ParameterState& state) const;  ///< 1 − β₂ᵗ
  /// r, or nothing while the variance is not known well enough.
  std::optional<double> rectification(const ParameterState& state) const;
  void update_moments(ParameterState& state, const Tensor& grad) const;
  Tensor new_direction(const ParameterState& state, const Tensor& corrected) const;

  RadamOptions options_;
};

}  // namespace ohm::optim
