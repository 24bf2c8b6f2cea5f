// RMSprop.
//
//   v = αv + (1−α)g²;  a = √v + ε (centered: √(v − ḡ²) + ε);  p −= lr · g / a, or with momentum
//   b = momentum · b + g / a;  p −= lr · b
//
// State: square_avg, with momentum a buffer, centered grad_avg: each of the parameter's size; the
// step count on the host. Temporaries: the list of averages a (for-loop form: of one parameter).
#pragma once

#include "runtime/optim/update_kernel.h"

namespace ohm::optim {

struct RmspropOptions {
  double lr = 1e-2;
  double alpha = 0.99;
  double eps = 1e-8;
  double weight_decay = 0.0;
  double momentum = 0.0;
  bool centered = false;
  bool maximize = false;
  Form form = Form::for_loop;
};

class Rmsprop final : public Optimizer {
 public:
  Rmsprop(std::vector<Tensor> parameters, const RmspropOptions& options);

  std::string_view type_name() const override { return "RMSprop"; }
  std::vector<std::string_view> state_names() const override;

 protected:
  void make_state(ParameterState& state) override;
  void update_list(const States& states) override;
  void update_each(const States& states) override;

 private:
  GradientRule rule() const { return {options_.weight_decay, options_.maximize}; }
  const Tensor& buffer(const ParameterState& state) const { return state.tensors[2]; }
  const Tensor& grad_average(const ParameterState& state) const { return state.tensors.back(); }
  void update_averages(ParameterState& state, const Tensor& grad) const;
  Tensor new_average(const ParameterState& state) const;
  void apply(const ParameterState& state, const Tensor& grad, const Tensor& average) const;

  RmspropOptions options_;
};

}  // namespace ohm::optim
