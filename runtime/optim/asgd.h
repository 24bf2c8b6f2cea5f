// ASGD: gradient descent that also keeps the average of where it has been.
//
//   p -= ηλp + ηg;  a += μ(p − a);  η = lr / (1 + λ·lr·t)^α;  μ = 1 / max(1, t − t₀)
//
// State: ax, the average, of the parameter's size; step, eta and mu, 4 bytes each, on the
// parameter's device. Temporaries: the list of g + λp, then the list of p − ax, then scalars for
// the next η and μ (for-loop form: p − ax of one parameter at a time, and only from step t₀ + 2
// on).
#pragma once

#include "runtime/optim/update_kernel.h"

namespace ohm::optim {

struct AsgdOptions {
  double lr = 1e-2;
  double lambd = 1e-4;
  double alpha = 0.75;
  double t0 = 1e6;
  double weight_decay = 0.0;
  bool maximize = false;
  Form form = Form::for_loop;
};

class Asgd final : public Optimizer {
 public:
  Asgd(std::vector<Tensor> parameters, const AsgdOptions& options);

  std::string_view type_name() const override { return "ASGD"; }
  std::vector<std::string_view> state_names() const override { return {"step", "eta", "mu", "ax"}; }

 protected:
  void make_state(ParameterState& state) override;
  std::vector<std::string_view> entries_read() const override {
    return {"mu", "ax", "eta", "step"};
  }
  void update_list(const States& states) override;
  void update_each(const States& states) override;

 private:
  GradientRule rule() const { return {options_.weight_decay, options_.maximize}; }
  /// η and μ of the update after `steps` updates.
  double eta_after(std::int64_t steps) const;
  double mu_after(std::int64_t steps) const;
  void move_parameters(const States& states, TemporaryList& grads) const;
  void average(const States& states) const;

  AsgdOptions options_;
};

}  // namespace ohm::optim
