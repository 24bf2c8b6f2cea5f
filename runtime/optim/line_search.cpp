#include "runtime/optim/line_search.h"

#include <array>
#include <optional>
#include <stdexcept>
#include <utility>

#include "runtime/arithmetic/copy.h"
#include "runtime/ops/matmul/vector_product.h"
#include "runtime/ops/pointwise/pointwise_unary.h"
#include "runtime/ops/reduction/extremum.h"

namespace ohm::optim {
namespace {

constexpr double kSufficientDecrease = 1e-4;
constexpr double kCurvature = 0.9;
constexpr double kSmallestBracket = 1e-9;

struct Interval {
  StepNumber begin;
  StepNumber end;
};

/// A step with what is known there. Its gradient is not needed for interpolation.
struct LinePoint {
  StepNumber step;
  double loss = 0.0;
  StepNumber slope;
};

// The factor of the larger step that leads back to the minimum of the cubic.
StepNumber share_of_step(const StepNumber& own, const StepNumber& other, const StepNumber& d1,
                         const StepNumber& d2) {
  StepNumber above = minus(plus(own, d2), d1);
  return quotient(std::move(above), plus(minus(own, other), times(d2, 2.0)));
}

// Where the cubic with the losses and slopes of two points is smallest, inside the bounds.
StepNumber interpolated(const LinePoint& a, const LinePoint& b,
                        const std::optional<Interval>& given) {
  const bool is_ascending = !given && is_at_most(a.step, b.step);
  const Interval bounds = given          ? *given
                          : is_ascending ? Interval{a.step, b.step}
                                         : Interval{b.step, a.step};
  // Python's frame lets them go in the order of their making.
  StepNumber place;
  StepNumber d2;
  StepNumber d2_square;
  StepNumber d1 = plus(a.slope, b.slope);
  d1 = minus(std::move(d1), quotient(3.0 * (a.loss - b.loss), minus(a.step, b.step)));
  {
    StepNumber square = squared(d1);
    d2_square = minus(std::move(square), times(a.slope, b.slope));
  }
  if (!is_at_least(d2_square, 0.0)) return quotient(plus(bounds.begin, bounds.end), 2.0);
  d2 = root(d2_square);
  const bool first_is_lower = is_at_most(a.step, b.step);
  const LinePoint& low = first_is_lower ? a : b;
  const LinePoint& high = first_is_lower ? b : a;
  StepNumber width = minus(high.step, low.step);
  StepNumber back = times(std::move(width), share_of_step(high.slope, low.slope, d1, d2));
  place = minus(high.step, std::move(back));
  return smaller(larger(place, bounds.begin), bounds.end);
}

// What Python's frame holds, from the last variable on: members go in the reverse order.
class LineSearch {
 public:
  LineSearch(const LineObjective& objective, const LineSearchStart& start)
      : objective_(objective), start_(start), t_(start.step) {}

  LineSearchResult run() {
    d_norm_ = largest_magnitude(start_.direction);
    gradient_ = copy_of(start_.gradient);
    evaluate();
    look_for_bracket();
    if (iterations_ == start_.evaluations) bracket_all();
    if (!bracket_gradient_[0].defined()) {
      throw std::invalid_argument("[LBFGS] max_eval leaves nothing for a line search");
    }
    order_bracket(is_closed_);
    while (!is_done_ && iterations_ < start_.evaluations && shrink_bracket()) {
    }
    t_ = bracket_[low_];
    gradient_new_ = bracket_gradient_[low_];
    return {t_, bracket_loss_[low_], gradient_new_, evaluations_};
  }

 private:
  static StepNumber largest_magnitude(const Tensor& tensor) {
    const Tensor sizes = ops::abs(tensor);
    return ops::max(sizes);
  }

  void evaluate() {
    EvaluatedPoint point = objective_(t_);
    loss_new_ = point.loss;
    gradient_new_ = std::move(point.gradient);
    ++evaluations_;
    slope_new_ = ops::dot(gradient_new_, start_.direction);
  }

  // loss + 1e-4 · t · slope
  StepNumber line_of_decrease() const {
    StepNumber drop = times(times(t_, kSufficientDecrease), start_.slope);
    return plus(start_.loss, std::move(drop));
  }

  bool is_flat_enough() const {
    StepNumber size = magnitude(slope_new_);
    return is_at_most(std::move(size), times(start_.slope, -kCurvature));
  }

  void close_bracket() {
    bracket_ = {t_prev_, t_};
    bracket_loss_ = {loss_prev_, loss_new_};
    bracket_gradient_ = {gradient_prev_, copy_of(gradient_new_)};
    bracket_slope_ = {slope_prev_, slope_new_};
    is_closed_ = true;
  }

  // The whole way, once all evaluations are used.
  void bracket_all() {
    bracket_ = {StepNumber(0.0), t_};
    bracket_loss_ = {start_.loss, loss_new_};
    bracket_gradient_ = {gradient_, gradient_new_};
    is_closed_ = true;
  }

  void look_for_bracket() {
    loss_prev_ = start_.loss;
    gradient_prev_ = gradient_;
    slope_prev_ = start_.slope;
    while (iterations_ < start_.evaluations) {
      if (is_greater(loss_new_, line_of_decrease()) ||
          (iterations_ > 1 && loss_new_ >= loss_prev_)) {
        return close_bracket();
      }
      if (is_flat_enough()) {
        bracket_[0] = t_;
        bracket_loss_[0] = loss_new_;
        bracket_gradient_[0] = gradient_new_;
        is_done_ = true;
        return;
      }
      if (is_at_least(slope_new_, 0.0)) return close_bracket();
      go_further();
    }
  }

  void go_further() {
    min_step_ = plus(t_, times(minus(t_, t_prev_), 0.01));
    max_step_ = times(t_, 10.0);
    before_ = t_;
    t_ = interpolated({t_prev_, loss_prev_, slope_prev_}, {t_, loss_new_, slope_new_},
                      Interval{min_step_, max_step_});
    t_prev_ = before_;
    loss_prev_ = loss_new_;
    gradient_prev_ = copy_of(gradient_new_);
    slope_prev_ = slope_new_;
    evaluate();
    ++iterations_;
  }

  void order_bracket(bool has_two) {
    const bool first_is_lower = !has_two || bracket_loss_[0] <= bracket_loss_[1];
    low_ = first_is_lower ? 0 : 1;
    high_ = 1 - low_;
  }

  StepNumber largest() const { return larger(bracket_[0], bracket_[1]); }
  StepNumber smallest() const { return smaller(bracket_[0], bracket_[1]); }

  // False once the bracket is too small.
  bool shrink_bracket() {
    StepNumber width = magnitude(minus(bracket_[1], bracket_[0]));
    if (is_less(times(std::move(width), d_norm_), kSmallestBracket)) return false;
    t_ = interpolated({bracket_[0], bracket_loss_[0], bracket_slope_[0]},
                      {bracket_[1], bracket_loss_[1], bracket_slope_[1]}, std::nullopt);
    keep_away_from_ends();
    evaluate();
    ++iterations_;
    if (is_greater(loss_new_, line_of_decrease()) || loss_new_ >= bracket_loss_[low_]) {
      put(high_);
      order_bracket(true);
      return true;
    }
    if (is_flat_enough()) {
      is_done_ = true;
    } else if (turns_over()) {
      bracket_[high_] = bracket_[low_];
      bracket_loss_[high_] = bracket_loss_[low_];
      bracket_gradient_[high_] = bracket_gradient_[low_];
      bracket_slope_[high_] = bracket_slope_[low_];
    }
    put(low_);
    return true;
  }

  bool turns_over() const {
    return is_at_least(times(slope_new_, minus(bracket_[high_], bracket_[low_])), 0.0);
  }

  void put(std::size_t place) {
    bracket_[place] = t_;
    bracket_loss_[place] = loss_new_;
    bracket_gradient_[place] = copy_of(gradient_new_);
    bracket_slope_[place] = slope_new_;
  }

  // A step close to an end of the bracket twice, or at it, moves a tenth of the bracket inside.
  void keep_away_from_ends() {
    {
      StepNumber top = largest();
      eps_ = times(minus(std::move(top), smallest()), 0.1);
    }
    StepNumber above = minus(largest(), t_);
    const bool is_close = is_less(smaller(std::move(above), minus(t_, smallest())), eps_);
    if (!is_close) {
      makes_little_progress_ = false;
    } else if (makes_little_progress_ || is_at_least(t_, largest()) || is_at_most(t_, smallest())) {
      StepNumber to_top = magnitude(minus(t_, largest()));
      const bool is_high = is_less(std::move(to_top), magnitude(minus(t_, smallest())));
      t_ = is_high ? minus(largest(), eps_) : plus(smallest(), eps_);
      makes_little_progress_ = false;
    } else {
      makes_little_progress_ = true;
    }
  }

  const LineObjective& objective_;
  const LineSearchStart& start_;
  std::int64_t iterations_ = 0;
  std::int64_t evaluations_ = 0;
  bool is_done_ = false;
  bool is_closed_ = false;  ///< the bracket has two ends
  bool makes_little_progress_ = false;
  std::size_t low_ = 0;
  std::size_t high_ = 1;
  double loss_new_ = 0.0;
  double loss_prev_ = 0.0;
  std::array<double, 2> bracket_loss_ = {};
  StepNumber eps_;
  StepNumber before_;
  StepNumber max_step_;
  StepNumber min_step_;
  std::array<StepNumber, 2> bracket_slope_;
  std::array<Tensor, 2> bracket_gradient_;
  std::array<StepNumber, 2> bracket_;
  StepNumber slope_prev_;
  Tensor gradient_prev_;
  StepNumber t_prev_;
  StepNumber slope_new_;
  Tensor gradient_new_;
  StepNumber d_norm_;
  Tensor gradient_;  ///< at x
  StepNumber t_;
};

}  // namespace

LineSearchResult search_line(const LineObjective& objective, const LineSearchStart& start) {
  return LineSearch(objective, start).run();
}

}  // namespace ohm::optim
