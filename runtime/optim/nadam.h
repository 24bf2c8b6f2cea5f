// NAdam: Adam with Nesterov's momentum.
//
//   m = β₁m + (1−β₁)g;  v = β₂v + (1−β₂)g²;  d = √(v / (1−β₂ᵗ)) + ε
//   p −= lr (1−μₜ)/(1−∏μ) · g/d + lr μₜ₊₁/(1−∏μ μₜ₊₁) · m/d,  μₜ = β₁ (1 − 0.96^(t·ψ) / 2)
//
// State: exp_avg and exp_avg_sq of the parameter's size; step count and ∏μ on the host.
// Temporaries: the list of d; the for-loop form makes the quotient and its root for one parameter.
#pragma once

#include "runtime/optim/update_kernel.h"

namespace ohm::optim {

struct NadamOptions {
  double lr = 2e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.0;
  double momentum_decay = 4e-3;  ///< ψ
  bool decoupled_weight_decay = false;
  bool maximize = false;
  Form form = Form::for_loop;
};

class Nadam final : public Optimizer {
 public:
  Nadam(std::vector<Tensor> parameters, const NadamOptions& options);

  std::string_view type_name() const override { return "NAdam"; }
  std::vector<std::string_view> state_names() const override {
    return {"step", "mu_product", "exp_avg", "exp_avg_sq"};
  }

 protected:
  void make_state(ParameterState& state) override;
  std::vector<std::string_view> entries_read() const override {
    return {"exp_avg", "exp_avg_sq", "mu_product", "step"};
  }
  void update_list(const States& states) override;
  void update_each(const States& states) override;

 private:
  GradientRule rule() const;
  double momentum_at(std::int64_t step) const;
  double second_correction(const ParameterState& state) const;  ///< 1 − β₂ᵗ
  void update_moments(ParameterState& state, const Tensor& grad);
  void apply(const ParameterState& state, const Tensor& grad, const Tensor& denominator);

  NadamOptions options_;
  std::unordered_map<const ParameterState*, double> mu_products_;
};

}  // namespace ohm::optim
