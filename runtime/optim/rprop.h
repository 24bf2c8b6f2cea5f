// Rprop: each element has a step size of its own, and only the sign of its gradient counts.
//
//   s = sign(g · previous g);  size = clamp(size · (η⁺ where s > 0, η⁻ where s < 0), min, max)
//   g = 0 where s < 0;  p -= size · sign(g)
//
// State: prev and step_size of the parameter's size; the step count on the host. Temporaries: the
// list of s, masks of one byte an element, then the list of sign(g) (for-loop form: s, a copy of
// the gradient and a sign for one parameter at a time).
#pragma once

#include "runtime/optim/update_kernel.h"

namespace ohm::optim {

struct RpropOptions {
  double lr = 1e-2;
  double eta_minus = 0.5;
  double eta_plus = 1.2;
  double step_size_min = 1e-6;
  double step_size_max = 50.0;
  bool maximize = false;
  Form form = Form::for_loop;
};

class Rprop final : public Optimizer {
 public:
  /// Throws std::invalid_argument unless 0 < eta_minus < 1 < eta_plus.
  Rprop(std::vector<Tensor> parameters, const RpropOptions& options);

  std::string_view type_name() const override { return "Rprop"; }
  std::vector<std::string_view> state_names() const override {
    return {"step", "prev", "step_size"};
  }

 protected:
  void make_state(ParameterState& state) override;
  void update_list(const States& states) override;
  void update_each(const States& states) override;

 private:
  /// From products of two gradients to the factors that step sizes are multiplied by.
  void turn_into_factors(const Tensor& signs) const;
  void scale_step_size(const ParameterState& state, const Tensor& factors) const;
  /// 0 where the gradient has changed its sign.
  void drop_turned(const Tensor& grad, const Tensor& factors) const;

  RpropOptions options_;
};

}  // namespace ohm::optim
