// Adamax: Adam with the infinity norm.
//
//   m = β₁m + (1−β₁)g;  u = max(β₂u, |g| + ε);  p −= lr / (1 − β₁ᵗ) · m / u
//
// State: exp_avg and exp_inf of the parameter's size; the step count on the host. Temporaries: the
// list of |g| + ε (for-loop form: of one parameter at a time).
#pragma once

#include "runtime/optim/update_kernel.h"

namespace ohm::optim {

struct AdamaxOptions {
  double lr = 2e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.0;
  bool maximize = false;
  Form form = Form::for_loop;
};

class Adamax final : public Optimizer {
 public:
  Adamax(std::vector<Tensor> parameters, const AdamaxOptions& options);

  std::string_view type_name() const override { return "Adamax"; }
  std::vector<std::string_view> state_names() const override {
    return {"step", "exp_avg", "exp_inf"};
  }

 protected:
  void make_state(ParameterState& state) override;
  void update_list(const States& states) override;
  void update_each(const States& states) override;

 private:
  GradientRule rule() const { return {options_.weight_decay, options_.maximize}; }
  void update_norm(const ParameterState& state, const Tensor& magnitude) const;
  void apply(const ParameterState& state) const;

  AdamaxOptions options_;
};

}  // namespace ohm::optim
