// Adam, and AdamW with its decoupled weight decay.
//
//   m = β₁m + (1−β₁)g;  v = β₂v + (1−β₂)g²;  p −= lr · m̂ / (√v̂ + ε)
//
// State: exp_avg and exp_avg_sq of the parameter's size and dtype (amsgrad: a third), made at the
// first step; the step count lies on the host, except for the fused form, which keeps it on the
// parameter's device. Temporaries: foreach makes a list √v of all parameters at once, the for-loop
// form √v and its quotient for one parameter at a time, fused none.
#pragma once

#include <unordered_map>

#include "runtime/optim/optimizer.h"

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
  Form form = Form::for_loop;
};

class Adam final : public Optimizer {
 public:
  Adam(std::vector<Tensor> parameters, const AdamOptions& options);

  std::string_view type_name() const override {
    return options_.decay == WeightDecay::coupled ? "Adam" : "AdamW";
  }

 protected:
  void update(const std::vector<Tensor>& parameters) override;

 private:
  struct State {
    Tensor step;  ///< float32 scalar
    Tensor exp_avg;
    Tensor exp_avg_sq;
    Tensor max_exp_avg_sq;  ///< amsgrad only
    std::int64_t steps = 0;
  };
  struct Correction {
    double step_size;
    double sqrt_second;  ///< √(1 − β₂ᵗ)
  };

  State& state_of(const Tensor& parameter);
  Correction advance(State& state) const;
  void update_moments(State& state, const Tensor& parameter, const Tensor& grad) const;
  void raise_maximum(State& state) const;
  const Tensor& second_moment(const State& state) const;
  void apply(const Tensor& parameter, const State& state, const Tensor& denominator,
             double step_size) const;

  void update_list(const std::vector<Tensor>& parameters);
  void update_one_by_one(const std::vector<Tensor>& parameters);
  void update_fused(const std::vector<Tensor>& parameters);

  AdamOptions options_;
  std::unordered_map<const TensorImpl*, State> states_;
};

}  // namespace ohm::optim
