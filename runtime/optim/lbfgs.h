// L-BFGS: a quasi-Newton step on all parameters as one vector, whose inverse Hessian is known by
// the last changes of the gradient, y, and of the parameters, s.
//
//   d = −H·g;  p += t·d;  a step repeats this up to max_iter times, and calls the closure each time
//
// State, of the first parameter: d, prev_flat_grad and up to history_size pairs of y (old_dirs) and
// s (old_stps), each as large as all parameters together; numbers, which are tensors of one element
// where PyTorch's are. A line search keeps a copy of the parameters and gradients of its bracket.
//
// What ends a step early, and whether a pair is kept, are comparisons of values. Without values
// every pair is kept, and a step ends by its counts alone (Assumption::lbfgs_curvature).
#pragma once

#include <string>

#include "runtime/optim/optimizer.h"

namespace ohm::optim {

struct LbfgsOptions {
  double lr = 1.0;
  std::int64_t max_iter = 20;
  std::optional<std::int64_t> max_eval;  ///< none: 5/4 of max_iter
  double tolerance_grad = 1e-7;
  double tolerance_change = 1e-9;
  std::int64_t history_size = 100;
  std::optional<std::string> line_search_fn;  ///< none, or strong_wolfe
  bool maximize = false;
};

class Lbfgs final : public Optimizer {
 public:
  Lbfgs(std::vector<Tensor> parameters, const LbfgsOptions& options);
  ~Lbfgs() override;

  std::string_view type_name() const override { return "LBFGS"; }
  std::vector<std::string_view> state_names() const override {
    return {"d", "t", "H_diag", "prev_flat_grad"};
  }
  std::vector<std::string_view> list_names() const override {
    return {"al", "old_dirs", "old_stps", "ro"};
  }
  std::vector<std::string_view> number_names() const override {
    return {"func_evals", "t", "H_diag", "prev_loss"};
  }

  /// Throws std::invalid_argument: it needs a closure.
  void step() override;
  /// Throws std::invalid_argument where the closure returns something else than one number, and
  /// where an earlier step ended with an error before it had made the state.
  Tensor step(const Closure& closure) override;
  void clear_state() override;
  /// Throws std::invalid_argument: there is one group.
  void add_group(std::shared_ptr<Optimizer> group) override;

 protected:
  void make_state(ParameterState& /*state*/) override {}
  void update_list(const States& /*states*/) override {}
  void update_each(const States& /*states*/) override {}
  std::vector<Tensor> updated_parameters() const override { return parameters(); }

 private:
  LbfgsOptions options_;
  bool al_is_last_ = false;  ///< of what the state has: it came in a later step than the rest
};

}  // namespace ohm::optim
