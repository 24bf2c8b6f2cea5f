#include "runtime/optim/lbfgs.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "runtime/arithmetic/copy.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/ops/matmul/vector_product.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/pointwise/pointwise_unary.h"
#include "runtime/ops/reduction/extremum.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/optim/flat_parameters.h"
#include "runtime/optim/line_search.h"
#include "runtime/tensor/context.h"

namespace ohm::optim {
namespace {

enum LbfgsSlot : std::size_t { kDirection, kStepLength, kScale, kPreviousGradient };
enum LbfgsList : std::size_t { kAl, kOldDirs, kOldSteps, kRo };
enum LbfgsNumber : std::size_t { kEvaluations, kStepLengthNumber, kScaleNumber, kPreviousLoss };

using TensorVector = std::vector<Tensor>;

constexpr double kSmallestCurvature = 1e-10;
constexpr std::int64_t kLineSearchEvaluations = 25;

// As a list of Python's.
void let_go(TensorVector& list) {
  while (!list.empty()) list.pop_back();
}

// max(|tensor|) ≤ bound
Tensor is_small(const Tensor& tensor, double bound) {
  Tensor largest;
  {
    const Tensor sizes = ops::abs(tensor);
    largest = ops::max(sizes);
  }
  return ops::le(largest, bound);
}

// (a · b) · factor
Tensor scaled_dot(const Tensor& a, const Tensor& b, const Tensor& factor) {
  const Tensor product = ops::dot(a, b);
  return ops::mul(product, factor);
}

StepNumber number_or_tensor(const ParameterState& state, std::size_t slot, std::size_t number) {
  if (state.tensors[slot].defined()) return state.tensors[slot];
  return state.numbers[number].value_or(1.0);
}

void store(ParameterState& state, std::size_t slot, std::size_t number, const StepNumber& value) {
  state.tensors[slot] = value.is_tensor() ? value.tensor() : Tensor();
  state.numbers[number] = value.is_tensor() ? std::nullopt : std::optional(value.read());
}

// One step: what Python's frame holds, from the last variable on, as members go in the reverse
// order.
class LbfgsStep {
 public:
  LbfgsStep(const LbfgsOptions& options, double lr, const FlatParameters& parameters,
            const Closure& closure, ParameterState& state)
      : options_(options), lr_(lr), parameters_(parameters), closure_(closure), state_(state) {}

  /// Whether this step was the first that used a list "al", and later than the one that stored "d".
  bool adds_al_last() const { return adds_al_last_; }

  Tensor run(Category outside) {
    outside_ = outside;
    first_loss_ = evaluate();
    count_evaluations(1);
    flat_grad_ = parameters_.gradient();
    is_optimal_ = is_small(flat_grad_, options_.tolerance_grad);
    if (is_true(is_optimal_)) return std::move(first_loss_);
    take_state();
    iterate();
    keep_state();
    return std::move(first_loss_);
  }

 private:
  Tensor evaluate() {
    Tensor loss;
    {
      const GradModeGuard recorded(true);
      const CategoryGuard category(outside_);
      loss = closure_();
    }
    if (!loss.defined() || loss.numel() != 1) {
      throw std::invalid_argument("[LBFGS] the closure must return the loss, a single number");
    }
    has_values_ = loss.has_values();
    if (!has_values_) {
      Context::current().slot(loss.device()).assumptions.add(Assumption::lbfgs_curvature);
    }
    const double value = StepNumber(loss).read();
    loss_ = options_.maximize ? -value : value;
    return loss;
  }

  void count_evaluations(std::int64_t count) {
    evaluations_ += count;
    std::optional<double>& all = state_.numbers[kEvaluations];
    all = all.value_or(0.0) + static_cast<double>(count);
  }

  void take_state() {
    d_ = state_.tensors[kDirection];
    t_ = number_or_tensor(state_, kStepLength, kStepLengthNumber);
    scale_ = number_or_tensor(state_, kScale, kScaleNumber);
    previous_grad_ = state_.tensors[kPreviousGradient];
    if (!d_.defined()) return;
    old_dirs_ = &state_.lists[kOldDirs];
    old_steps_ = &state_.lists[kOldSteps];
    ro_ = &state_.lists[kRo];
  }

  void keep_state() {
    state_.tensors[kDirection] = d_;
    store(state_, kStepLength, kStepLengthNumber, t_);
    if (old_dirs_ == &own_dirs_) {
      state_.lists[kOldDirs] = std::move(own_dirs_);
      state_.lists[kOldSteps] = std::move(own_steps_);
      state_.lists[kRo] = std::move(own_ro_);
    }
    store(state_, kScale, kScaleNumber, scale_);
    state_.tensors[kPreviousGradient] = previous_grad_;
    state_.numbers[kPreviousLoss] = previous_loss_;
  }

  void iterate() {
    std::int64_t iteration = 0;
    while (iteration < options_.max_iter) {
      ++iteration;
      ++state_.steps;
      choose_direction();
      remember_gradient();
      t_ = state_.steps == 1 ? first_step_length() : StepNumber(lr_);
      slope_ = ops::dot(flat_grad_, d_);
      if (is_greater(slope_, -options_.tolerance_change)) return;
      const bool is_last = iteration == options_.max_iter;
      count_evaluations(options_.line_search_fn ? move_along_line() : move(is_last));
      if (is_last || evaluations_ >= *options_.max_eval || is_true(is_optimal_)) return;
      if (makes_no_progress()) return;
    }
  }

  // ---- the direction ----------------------------------------------------------------------------

  void choose_direction() {
    if (state_.steps == 1) {
      d_ = ops::neg(flat_grad_);
      scale_ = 1.0;
      return;
    }
    if (!previous_grad_.defined() || !d_.defined()) {
      throw std::invalid_argument(
          "[LBFGS] the state is incomplete: the step that began to make it ended with an error; "
          "clear the state, or make a new optimizer");
    }
    y_ = ops::sub(flat_grad_, previous_grad_);
    s_ = ops::mul(d_, t_.operand());
    curvature_ = ops::dot(y_, s_);
    // Without values a pair is kept: see Assumption::lbfgs_curvature.
    if (is_greater(curvature_, kSmallestCurvature) || !curvature_.has_values()) keep_pair();
    multiply_by_inverse();
  }

  void keep_pair() {
    if (options_.history_size < 1) {
      throw std::invalid_argument(fmt::format(
          "[LBFGS] history_size {} leaves room for no direction", options_.history_size));
    }
    if (std::cmp_equal(old_dirs_->size(), options_.history_size)) {
      for (TensorVector* list : {old_dirs_, old_steps_, ro_}) {
        if (!list->empty()) list->erase(list->begin());
      }
    }
    old_dirs_->push_back(y_);
    old_steps_->push_back(s_);
    ro_->push_back(quotient(1.0, curvature_).tensor());
    scale_ = quotient(curvature_, ops::dot(y_, y_));
  }

  // The product of the inverse Hessian and the gradient, by two loops over the pairs.
  void multiply_by_inverse() {
    const std::size_t count = old_dirs_->size();
    if (old_steps_->size() < count || ro_->size() < count) {
      throw std::invalid_argument(
          "[LBFGS] the lists of directions differ in length: a step ended with an error; clear the "
          "state, or make a new optimizer");
    }
    TensorVector& al = state_.lists[kAl];
    adds_al_last_ = adds_al_last_ || (al.empty() && state_.tensors[kDirection].defined());
    al.resize(std::max(al.size(), count));
    q_ = ops::neg(flat_grad_);
    for (std::size_t i = count; i > 0; --i) {
      al[i - 1] = scaled_dot((*old_steps_)[i - 1], q_, (*ro_)[i - 1]);
      const StepNumber factor = negated(al[i - 1]);
      add_scaled(q_, (*old_dirs_)[i - 1], factor.read());
    }
    const Tensor scaled = ops::mul(q_, scale_.operand());
    d_ = scaled;
    r_ = scaled;
    for (std::size_t i = 0; i < count; ++i) {
      be_ = scaled_dot((*old_dirs_)[i], r_, (*ro_)[i]);
      const StepNumber factor = minus(al[i], be_);
      add_scaled(r_, (*old_steps_)[i], factor.read());
    }
  }

  void remember_gradient() {
    if (previous_grad_.defined()) {
      copy_into(previous_grad_, flat_grad_);
    } else {
      previous_grad_ = copy_of(flat_grad_);
    }
    previous_loss_ = loss_;
  }

  // ---- the step along it ------------------------------------------------------------------------

  // min(1, 1 / |g|₁) · lr
  StepNumber first_step_length() const {
    Tensor norm;
    {
      const Tensor sizes = ops::abs(flat_grad_);
      norm = ops::sum(sizes);
    }
    return times(smaller(1.0, quotient(1.0, std::move(norm))), lr_);
  }

  // How often the closure was called. The last iteration's gradient is of no use.
  std::int64_t move(bool is_last) {
    parameters_.add(t_.read(), d_);
    if (is_last) return 0;
    evaluate();
    look_at_gradient(parameters_.gradient());
    return 1;
  }

  std::int64_t move_along_line() {
    if (*options_.line_search_fn != "strong_wolfe") {
      throw std::invalid_argument("[LBFGS] only 'strong_wolfe' is supported");
    }
    parameters_.copy_to(x_);
    const bool counts = Context::current().rules.line_searches_count_evaluations;
    LineSearchResult found =
        search_line([this](const StepNumber& step) { return evaluate_at(step); },
                    {t_, d_, loss_, flat_grad_, slope_,
                     counts ? *options_.max_eval - evaluations_ : kLineSearchEvaluations});
    loss_ = found.loss;
    flat_grad_ = std::move(found.gradient);
    t_ = std::move(found.step);
    parameters_.add(t_.read(), d_);
    is_optimal_ = is_small(flat_grad_, options_.tolerance_grad);
    return found.evaluations;
  }

  EvaluatedPoint evaluate_at(const StepNumber& step) {
    const double at_start = loss_;
    parameters_.add(step.read(), d_);
    evaluate();
    EvaluatedPoint point{loss_, parameters_.gradient()};
    parameters_.restore(x_);
    loss_ = at_start;
    return point;
  }

  void look_at_gradient(Tensor gradient) {
    flat_grad_ = std::move(gradient);
    is_optimal_ = is_small(flat_grad_, options_.tolerance_grad);
  }

  bool makes_no_progress() const {
    Tensor is_still;
    {
      Tensor moved = ops::mul(d_, t_.operand());
      Tensor sizes = ops::abs(moved);
      moved = Tensor();
      const Tensor largest = ops::max(sizes);
      sizes = Tensor();
      is_still = ops::le(largest, options_.tolerance_change);
    }
    if (is_true(is_still)) return true;
    return has_values_ && std::abs(loss_ - previous_loss_) < options_.tolerance_change;
  }

  const LbfgsOptions& options_;
  double lr_;
  const FlatParameters& parameters_;
  const Closure& closure_;
  ParameterState& state_;
  Category outside_ = Category::other;  ///< what the closure allocates
  std::int64_t evaluations_ = 0;
  double loss_ = 0.0;
  double previous_loss_ = 0.0;
  bool has_values_ = true;
  bool adds_al_last_ = false;

  TemporaryList x_;  ///< the parameters before a line search
  Tensor slope_;
  Tensor be_;
  Tensor r_;
  Tensor q_;
  Tensor curvature_;
  Tensor s_;
  Tensor y_;
  Tensor previous_grad_;
  StepNumber scale_ = 1.0;
  // Lists that a first step makes; later ones change the state's own.
  TensorVector own_ro_;
  TensorVector own_steps_;
  TensorVector own_dirs_;
  TensorVector* ro_ = &own_ro_;
  TensorVector* old_steps_ = &own_steps_;
  TensorVector* old_dirs_ = &own_dirs_;
  StepNumber t_;
  Tensor d_;
  Tensor is_optimal_;
  Tensor flat_grad_;
  Tensor first_loss_;
};

// As Python's dictionary goes, in the order in which its entries came.
void let_go(ParameterState& state, bool al_is_last) {
  if (!al_is_last) let_go(state.lists[kAl]);
  state.tensors[kDirection] = Tensor();
  state.tensors[kStepLength] = Tensor();
  for (const std::size_t list : {kOldDirs, kOldSteps, kRo}) let_go(state.lists[list]);
  state.tensors[kScale] = Tensor();
  state.tensors[kPreviousGradient] = Tensor();
  let_go(state.lists[kAl]);
}

std::int64_t default_max_eval(std::int64_t max_iter) {
  constexpr std::int64_t kMost = std::int64_t{1} << 60;
  return std::clamp(max_iter, -kMost, kMost) * 5 / 4;
}

}  // namespace

Lbfgs::Lbfgs(std::vector<Tensor> parameters, const LbfgsOptions& options)
    : Optimizer(std::move(parameters), options.lr, Form::for_loop), options_(options) {
  if (!options_.max_eval) options_.max_eval = default_max_eval(options_.max_iter);
}

Lbfgs::~Lbfgs() { Lbfgs::clear_state(); }

void Lbfgs::clear_state() {
  const bool has_state =
      !group_parameters().empty() && find_state(group_parameters()[0]) != nullptr;
  if (has_state) let_go(entry_of(group_parameters()[0]), al_is_last_);
  al_is_last_ = false;
  Optimizer::clear_state();
}

void Lbfgs::add_group(std::shared_ptr<Optimizer> /*group*/) {
  throw std::invalid_argument(
      "[LBFGS] LBFGS doesn't support per-parameter options (parameter groups)");
}

void Lbfgs::step() {
  throw std::invalid_argument("[LBFGS] step() missing 1 required positional argument: 'closure'");
}

Tensor Lbfgs::step(const Closure& closure) {
  const Category outside = Context::current().state.category;
  if (group_parameters().empty()) {
    const GradModeGuard recorded(true);
    return closure();
  }
  const NoGradGuard no_grad;
  const CategoryGuard category(Category::optimizer_state);
  const FlatParameters parameters(group_parameters(), options_.maximize);
  ParameterState& state = entry_of(group_parameters()[0]);
  Tensor loss;
  run_observed([&] {
    LbfgsStep one(options_, learning_rate(), parameters, closure, state);
    loss = one.run(outside);
    al_is_last_ = al_is_last_ || one.adds_al_last();
  });
  return loss;
}

}  // namespace ohm::optim
