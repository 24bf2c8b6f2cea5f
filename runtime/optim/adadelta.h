// Adadelta.
//
//   v = ρv + (1−ρ)g²;  d = √(u + ε) / √(v + ε) · g;  u = ρu + (1−ρ)d²;  p −= lr · d
//
// State: square_avg and acc_delta of the parameter's size; the step count on the host.
// Temporaries: the lists of √(v + ε) and of d (for-loop form: of one parameter at a time).
#pragma once

#include "runtime/optim/update_kernel.h"

namespace ohm::optim {

struct AdadeltaOptions {
  double lr = 1.0;
  double rho = 0.9;
  double eps = 1e-6;
  double weight_decay = 0.0;
  bool maximize = false;
  Form form = Form::for_loop;
};

class Adadelta final : public Optimizer {
 public:
  Adadelta(std::vector<Tensor> parameters, const AdadeltaOptions& options);

  std::string_view type_name() const override { return "Adadelta"; }
  std::vector<std::string_view> state_names() const override {
    return {"step", "square_avg", "acc_delta"};
  }

 protected:
  void make_state(ParameterState& state) override;
  void update_list(const States& states) override;
  void update_each(const States& states) override;

 private:
  GradientRule rule() const { return {options_.weight_decay, options_.maximize}; }
  Tensor new_root(const Tensor& square) const;
  void apply(const ParameterState& state, const Tensor& grad, const Tensor& root,
             const Tensor& delta) const;

  AdadeltaOptions options_;
};

}  // namespace ohm::optim
