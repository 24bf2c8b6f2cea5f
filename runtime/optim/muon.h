// Muon: momentum whose singular values all become about 1, of matrices alone.
//
//   b = lerp(b, g, 1 − μ);  u = lerp(g, b, μ) with nesterov, else b
//   X = u in bfloat16, lying with its longer side across;  X /= max(|X|, ε)
//   n times:  A = X · Xᵀ;  X = a · X + (b · A + c · A · A) · X
//   p *= 1 − lr · λ;  p -= α · X, with α = lr · sqrt(max(1, rows / columns)), or as asked
//
// State: momentum_buffer of the parameter's size. Temporaries: one parameter at a time, and the
// last X until the step is over. PyTorch has it from 2.9 on, and no list of kernels for it.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "runtime/optim/update_kernel.h"

namespace ohm::optim {

struct MuonOptions {
  double lr = 1e-3;
  double weight_decay = 0.1;
  double momentum = 0.95;
  bool nesterov = true;
  std::array<double, 3> ns_coefficients = {3.4445, -4.7750, 2.0315};
  double eps = 1e-7;
  std::int64_t ns_steps = 5;
  /// "original", "match_rms_adamw" or "spectral_unclamped".
  std::optional<std::string> adjust_lr_fn;
};

class Muon final : public Optimizer {
 public:
  /// Throws std::invalid_argument for parameters that are no matrices, negative numbers, an unknown
  /// adjust_lr_fn and 100 steps or more.
  Muon(std::vector<Tensor> parameters, const MuonOptions& options);

  std::string_view type_name() const override { return "Muon"; }
  std::vector<std::string_view> state_names() const override { return {"momentum_buffer"}; }
  std::optional<double> momentum() const override { return options_.momentum; }
  void set_momentum(double momentum) override { options_.momentum = momentum; }

 protected:
  void make_state(ParameterState& /*state*/) override {}
  /// The momentum is made by the first update that finds none.
  std::vector<std::string_view> entries_read() const override { return {}; }
  void update_list(const States& states) override { update_each(states); }
  void update_each(const States& states) override;

 private:
  Tensor direction(const ParameterState& state) const;
  Tensor orthogonal(const Tensor& update) const;
  double adjusted_rate(const Shape& shape) const;

  MuonOptions options_;
};

}  // namespace ohm::optim
