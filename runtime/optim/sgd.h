// Stochastic gradient descent.
//
//   g = grad + weight_decay · p;  v = momentum · v + (1 − dampening) · g;  p −= lr · (v or g)
//
// State: with momentum one buffer of the parameter's size and dtype, made at the first step as a
// copy of the gradient. Temporaries: with weight decay or maximize one of the parameter's size.
#pragma once

#include "runtime/optim/update_kernel.h"

namespace ohm::optim {

struct SgdOptions {
  double lr = 1e-3;
  double momentum = 0.0;
  double dampening = 0.0;
  double weight_decay = 0.0;
  bool nesterov = false;
  bool maximize = false;
  Form form = Form::for_loop;
};

class Sgd final : public Optimizer {
 public:
  Sgd(std::vector<Tensor> parameters, const SgdOptions& options);

  std::string_view type_name() const override { return "SGD"; }
  std::vector<std::string_view> state_names() const override { return {"momentum_buffer"}; }
  std::optional<double> momentum() const override {
    return options_.momentum != 0 ? std::optional(options_.momentum) : std::nullopt;
  }
  void set_momentum(double momentum) override { options_.momentum = momentum; }

 protected:
  void make_state(ParameterState& /*state*/) override {}
  /// The momentum is made by the first update that finds none.
  std::vector<std::string_view> entries_read() const override { return {}; }
  void update_list(const States& states) override;
  void update_each(const States& states) override;
  void update_fused(const States& states) override;

 private:
  GradientRule rule() const { return {options_.weight_decay, options_.maximize}; }
  class NewMomenta;
  const Tensor& move_momentum(ParameterState& state, const Tensor& grad, NewMomenta& made) const;
  void move_fused(const ParameterState& state, bool is_first) const;
  void apply(const Tensor& parameter, const Tensor& direction) const;

  SgdOptions options_;
};

}  // namespace ohm::optim
