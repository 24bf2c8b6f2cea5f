// The forward and backward variables of connectionist temporal classification (Graves et al.,
// 2006).
//
// Logarithms everywhere; −infinity is what cannot be. A sequence of n labels has 2n + 1 states: a
// blank, a label, a blank, … A path stays in its state, goes to the next one, or over a blank
// between two different labels.
#pragma once

#include <cstdint>
#include <vector>

namespace ohm::ops {

/// The sizes of a batch of sequences.
struct CtcProblem {
  std::int64_t time = 0;
  std::int64_t batch = 0;
  std::int64_t classes = 0;
  std::int64_t blank = 0;
  std::int64_t longest_target = 0;
  std::vector<std::int64_t> input_lengths;
  std::vector<std::int64_t> target_lengths;
  std::vector<std::int64_t> target_begins;  ///< among all labels

  std::int64_t states() const { return 2 * longest_target + 1; }
};

/// What the loss is computed from: [time, batch, classes], and the labels of all targets.
struct CtcInput {
  std::vector<double> log_probs;
  std::vector<std::int64_t> labels;
};

struct CtcForward {
  std::vector<double> alpha;   ///< [batch, time, states]: of all paths up to a state at a time
  std::vector<double> losses;  ///< [batch]
};

/// Throws std::invalid_argument for a label that is not a class.
void require_labels(const CtcProblem& problem, const std::vector<std::int64_t>& labels);

CtcForward ctc_forward(const CtcProblem& problem, const CtcInput& input);

/// Of the log_probs, where each loss's own gradient is `incoming`: 0 behind the end of a sequence,
/// and of an infinite loss where `zero_infinity`.
std::vector<double> ctc_gradient(const CtcProblem& problem, const CtcInput& input,
                                 const CtcForward& forward, const std::vector<double>& incoming,
                                 bool zero_infinity);

}  // namespace ohm::ops
