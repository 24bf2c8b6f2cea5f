// Adam, and AdamW with its decoupled weight decay.
//
//   m = β₁m + (1−β₁)g;  v = β₂v + (1−β₂)g²;  p −= lr · m̂ / (√v̂ + ε)
//
// State: exp_avg and exp_avg_sq of the parameter's size and dtype (amsgrad: a third), made at the
// first step; the step count lies on the host, except for the fused form and capturable, which
// keep it on the parameter's device. Temporaries: foreach makes a list √v of all parameters at once
// (capturable: two lists of scalars too), the for-loop form √v and its quotient for one parameter
// at a time, fused none.
#pragma once

#include "runtime/optim/update_kernel.h"

namespace ohm::optim {

enum class WeightDecay : std::uint8_t {
  coupled,    ///< Adam: added to the gradient
  decoupled,  ///< AdamW: shrinks the parameter
};

struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.0;
  WeightDecay decay = WeightDecay::coupled;
  bool amsgrad = false;
  bool maximize = false;
  bool capturable = false;  ///< of the foreach form
  Form form = Form::for_loop;
};

class Adam final : public Optimizer {
 public:
  /// Throws std::invalid_argument for betas outside [0, 1) and capturable in another form.
  Adam(std::vector<Tensor> parameters, const AdamOptions& options);

  std::string_view type_name() const override {
    return options_.decay == WeightDecay::coupled ? "Adam" : "AdamW";
  }
  std::vector<std::string_view> state_names() const override;
  std::optional<double> momentum() const override { return options_.beta1; }
  void set_momentum(double momentum) override { options_.beta1 = momentum; }

 protected:
  bool counts_on_device() const override { return is_fused() || options_.capturable; }
  void make_state(ParameterState& state) override;
  void update_list(const States& states) override;
  void lists_are_done() override { denominators_.clear(); }
  void update_each(const States& states) override;
  void update_fused(const States& states) override;

 private:
  struct Correction {
    double step_size;
    double sqrt_second;  ///< √(1 − β₂ᵗ)
  };

  GradientRule rule() const;
  Correction correction(const ParameterState& state) const;
  void shrink(const Tensor& parameter) const;
  void update_moments(const ParameterState& state, const Tensor& grad) const;
  void raise_maximum(const ParameterState& state) const;
  const Tensor& second_moment(const ParameterState& state) const;
  void update_one_fused(ParameterState& state) const;

  AdamOptions options_;
  TemporaryList denominators_;  ///< of the last list, until the next one's are there
};

}  // namespace ohm::optim
