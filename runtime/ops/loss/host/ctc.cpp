#include "runtime/ops/loss/host/ctc.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>

namespace ohm::ops {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

// log(eᵃ + eᵇ); of what is not a number, no number.
double log_sum(double a, double b) {
  if (a == kNever) return b;
  if (b == kNever) return a;
  const double most = std::max(a, b);
  return most + std::log(std::exp(a - most) + std::exp(b - most));
}

/// One sequence of a batch.
class Sequence {
 public:
  Sequence(const CtcProblem& problem, const CtcInput& input, std::int64_t number)
      : problem_(problem), input_(input), number_(number) {}

  std::int64_t length() const { return problem_.input_lengths[index(number_)]; }
  std::int64_t states() const { return 2 * problem_.target_lengths[index(number_)] + 1; }

  std::int64_t class_of(std::int64_t state) const {
    if (state % 2 == 0) return problem_.blank;
    return input_.labels[index(problem_.target_begins[index(number_)] + state / 2)];
  }
  /// Of [time, batch, classes].
  std::size_t place(std::int64_t time, std::int64_t of_class) const {
    return index((time * problem_.batch + number_) * problem_.classes + of_class);
  }
  double log_prob(std::int64_t time, std::int64_t state) const {
    return input_.log_probs[place(time, class_of(state))];
  }
  /// Of [batch, time, states].
  std::size_t variable(std::int64_t time, std::int64_t state) const {
    return index((number_ * problem_.time + time) * problem_.states() + state);
  }
  /// Whether a path may go over the blank between this label and the one before.
  bool skips_blank_before(std::int64_t state) const {
    return state % 2 == 1 && state >= 2 && class_of(state) != class_of(state - 2);
  }

 private:
  static std::size_t index(std::int64_t number) { return static_cast<std::size_t>(number); }

  const CtcProblem& problem_;
  const CtcInput& input_;
  std::int64_t number_;
};

// The paths that begin with the first two states.
void fill_alpha(const Sequence& sequence, std::vector<double>& alpha) {
  for (std::int64_t state = 0; state < std::min<std::int64_t>(2, sequence.states()); ++state) {
    alpha[sequence.variable(0, state)] = sequence.log_prob(0, state);
  }
  for (std::int64_t time = 1; time < sequence.length(); ++time) {
    for (std::int64_t state = 0; state < sequence.states(); ++state) {
      double sum = alpha[sequence.variable(time - 1, state)];
      if (state >= 1) sum = log_sum(sum, alpha[sequence.variable(time - 1, state - 1)]);
      if (sequence.skips_blank_before(state)) {
        sum = log_sum(sum, alpha[sequence.variable(time - 1, state - 2)]);
      }
      alpha[sequence.variable(time, state)] = sum + sequence.log_prob(time, state);
    }
  }
}

// The paths that end with the last two states.
void fill_beta(const Sequence& sequence, std::vector<double>& beta) {
  const std::int64_t end = sequence.states();
  const std::int64_t last = sequence.length() - 1;
  for (std::int64_t state = std::max<std::int64_t>(0, end - 2); state < end; ++state) {
    beta[sequence.variable(last, state)] = sequence.log_prob(last, state);
  }
  for (std::int64_t time = last - 1; time >= 0; --time) {
    for (std::int64_t state = 0; state < end; ++state) {
      double sum = beta[sequence.variable(time + 1, state)];
      if (state + 1 < end) sum = log_sum(sum, beta[sequence.variable(time + 1, state + 1)]);
      if (state + 2 < end && sequence.skips_blank_before(state + 2)) {
        sum = log_sum(sum, beta[sequence.variable(time + 1, state + 2)]);
      }
      beta[sequence.variable(time, state)] = sum + sequence.log_prob(time, state);
    }
  }
}

double loss_of(const Sequence& sequence, const std::vector<double>& alpha) {
  // No input is the empty target, and nothing else.
  if (sequence.length() == 0) {
    return sequence.states() == 1 ? 0.0 : std::numeric_limits<double>::infinity();
  }
  double sum = kNever;
  const std::int64_t end = sequence.states();
  for (std::int64_t state = std::max<std::int64_t>(0, end - 2); state < end; ++state) {
    sum = log_sum(sum, alpha[sequence.variable(sequence.length() - 1, state)]);
  }
  return -sum;
}

std::size_t variables(const CtcProblem& problem) {
  return static_cast<std::size_t>(problem.batch * problem.time * problem.states());
}

// d loss / d log_prob of a class: its probability less what the paths through it have of all.
void add_gradient(const Sequence& sequence, const CtcInput& input, std::int64_t classes,
                  const std::vector<double>& both, double loss, double incoming,
                  std::vector<double>& gradient) {
  std::vector<double> through(static_cast<std::size_t>(classes));
  for (std::int64_t time = 0; time < sequence.length(); ++time) {
    std::fill(through.begin(), through.end(), kNever);
    for (std::int64_t state = 0; state < sequence.states(); ++state) {
      double& sum = through[static_cast<std::size_t>(sequence.class_of(state))];
      sum = log_sum(sum, both[sequence.variable(time, state)]);
    }
    for (std::int64_t label = 0; label < classes; ++label) {
      const std::size_t place = sequence.place(time, label);
      const double log_prob = input.log_probs[place];
      const double share = std::exp(through[static_cast<std::size_t>(label)] + loss - log_prob);
      gradient[place] = (std::exp(log_prob) - share) * incoming;
    }
  }
}

}  // namespace

void require_labels(const CtcProblem& problem, const std::vector<std::int64_t>& labels) {
  for (std::size_t i = 0; i < problem.target_lengths.size(); ++i) {
    for (std::int64_t at = 0; at < problem.target_lengths[i]; ++at) {
      const std::int64_t label = labels[static_cast<std::size_t>(problem.target_begins[i] + at)];
      if (label >= 0 && label < problem.classes) continue;
      throw std::invalid_argument(
          fmt::format("[ctc_loss] label {} is none of {} classes", label, problem.classes));
    }
  }
}

CtcForward ctc_forward(const CtcProblem& problem, const CtcInput& input) {
  CtcForward forward{std::vector<double>(variables(problem), kNever), {}};
  for (std::int64_t number = 0; number < problem.batch; ++number) {
    const Sequence sequence(problem, input, number);
    if (sequence.length() > 0) fill_alpha(sequence, forward.alpha);
    forward.losses.push_back(loss_of(sequence, forward.alpha));
  }
  return forward;
}

std::vector<double> ctc_gradient(const CtcProblem& problem, const CtcInput& input,
                                 const CtcForward& forward, const std::vector<double>& incoming,
                                 bool zero_infinity) {
  std::vector<double> gradient(input.log_probs.size(), 0.0);
  std::vector<double> both(variables(problem), kNever);
  for (std::int64_t number = 0; number < problem.batch; ++number) {
    const Sequence sequence(problem, input, number);
    const double loss = forward.losses[static_cast<std::size_t>(number)];
    if (sequence.length() == 0 || (zero_infinity && std::isinf(loss))) continue;
    fill_beta(sequence, both);
    for (std::int64_t time = 0; time < sequence.length(); ++time) {
      for (std::int64_t state = 0; state < sequence.states(); ++state) {
        both[sequence.variable(time, state)] += forward.alpha[sequence.variable(time, state)];
      }
    }
    add_gradient(sequence, input, problem.classes, both, loss,
                 incoming[static_cast<std::size_t>(number)], gradient);
  }
  return gradient;
}

}  // namespace ohm::ops
