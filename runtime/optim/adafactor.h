// Adafactor: of a matrix the second moments are kept as a column and a row, whose product they are.
//
//   b = t^decay;  rows = lerp(rows, mean(g², -1), b);  cols = lerp(cols, mean(g², -2), b)
//   v = rows · cols / max(mean(rows, -2), ε);  of a vector v = lerp(v, g², b)
//   u = g / sqrt(max(v, ε²));  p -= α · u / max(1, rms(u) / d)
//   with α = max(1e-3, rms(p)) · min(lr, 1 / √t)
//
// State: row_var [*, rows, 1] and col_var [*, 1, columns], or variance of a vector's size; the step
// count on the host. Temporaries: one parameter at a time, but what Python's function holds of the
// last one. PyTorch computes it in this form unless it is asked for lists.
#pragma once

#include "runtime/optim/update_kernel.h"

namespace ohm::optim {

struct AdafactorOptions {
  double lr = 1e-2;
  double beta2_decay = -0.8;
  double d = 1.0;  ///< how far an update's root mean square may be from 0
  double weight_decay = 0.0;
  bool maximize = false;
};

class Adafactor final : public Optimizer {
 public:
  /// Throws std::invalid_argument for a positive decay, d < 1 and a negative weight decay.
  Adafactor(std::vector<Tensor> parameters, const AdafactorOptions& options);

  std::string_view type_name() const override { return "Adafactor"; }
  std::vector<std::string_view> state_names() const override {
    return {"step", "row_var", "col_var", "variance"};
  }

 protected:
  void make_state(ParameterState& state) override;
  std::vector<std::string_view> entries_read() const override { return {"step"}; }
  void update_list(const States& states) override { update_each(states); }
  void update_each(const States& states) override;

 private:
  /// The variables of Python's function, which lets them go when it returns.
  struct Frame;

  void estimate(Frame& frame, ParameterState& state, double weight) const;
  void update_one(Frame& frame, ParameterState& state) const;

  AdafactorOptions options_;
};

}  // namespace ohm::optim
