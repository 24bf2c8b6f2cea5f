// Adagrad.
//
//   s = s + g²;  p −= lr / (1 + (t−1) · lr_decay) · g / (√s + ε)
//
// State: the sum of the parameter's size, made with the optimizer; the step count on the host.
// Temporaries: foreach makes the lists of √s + ε and of the scaled gradients, the for-loop form √s
// of one parameter at a time.
#pragma once

#include "runtime/optim/update_kernel.h"

namespace ohm::optim {

struct AdagradOptions {
  double lr = 1e-2;
  double lr_decay = 0.0;
  double weight_decay = 0.0;
  double initial_accumulator_value = 0.0;
  double eps = 1e-10;
  bool maximize = false;
  Form form = Form::for_loop;
};

class Adagrad final : public Optimizer {
 public:
  Adagrad(std::vector<Tensor> parameters, const AdagradOptions& options);

  std::string_view type_name() const override { return "Adagrad"; }
  std::vector<std::string_view> state_names() const override { return {"step", "sum"}; }

 protected:
  void make_state(ParameterState& state) override;
  void update_list(const States& states) override;
  void update_each(const States& states) override;

 private:
  GradientRule rule() const { return {options_.weight_decay, options_.maximize}; }
  double step_size(const ParameterState& state) const;
  Tensor new_root(const ParameterState& state) const;

  AdagradOptions options_;
};

}  // namespace ohm::optim
