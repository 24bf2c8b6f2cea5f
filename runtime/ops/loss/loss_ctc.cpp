#include "runtime/ops/loss/loss_ctc.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <utility>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/loss/host/ctc.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/choice.h"
#include "runtime/ops/pointwise/clamp.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/shape/view.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kCtcLoss{"ctc_loss"};

// ---- what is asked for --------------------------------------------------------------------------

void require_shapes(const Tensor& log_probs, const Tensor& targets, std::int64_t blank) {
  if (log_probs.dtype() != DType::float32 && log_probs.dtype() != DType::float64) {
    throw std::invalid_argument(
        fmt::format("[ctc_loss] is not implemented for {}", name_of(log_probs.dtype())));
  }
  if (is_floating(targets.dtype()) || targets.dtype() == DType::boolean) {
    throw std::invalid_argument(
        fmt::format("[ctc_loss] targets must be whole numbers, not {}", name_of(targets.dtype())));
  }
  const int dims = log_probs.dims();
  if ((dims != 2 && dims != 3) || targets.dims() < 1 || targets.dims() > dims - 1) {
    throw std::invalid_argument(fmt::format(
        "[ctc_loss] expected log_probs [time, batch, classes] with targets [batch, longest] or all "
        "in one dimension, or [time, classes] with [length], got {} and {}",
        log_probs.shape().str(), targets.shape().str()));
  }
  if (blank < 0 || blank >= log_probs.size(-1)) {
    throw std::invalid_argument(
        fmt::format("[ctc_loss] blank must be in label range: {} is none of "
                    "{} classes",
                    blank, log_probs.size(-1)));
  }
}

// One for each sequence; `longest` where they have no values.
std::vector<std::int64_t> lengths_of(const Tensor& lengths, std::string_view name,
                                     const Tensor& log_probs, std::int64_t longest) {
  const std::int64_t batch = log_probs.size(1);
  if (is_floating(lengths.dtype()) || lengths.dtype() == DType::boolean) {
    throw std::invalid_argument(
        fmt::format("[ctc_loss] {} must be whole numbers, not {}", name, name_of(lengths.dtype())));
  }
  if (lengths.numel() != batch) {
    throw std::invalid_argument(
        fmt::format("[ctc_loss] {} must be of size {}, one for each "
                    "sequence, got {}",
                    name, batch, lengths.shape().str()));
  }
  if (lacks_values(lengths)) {
    if (log_probs.device().is_cuda()) {
      Context::current().slot(log_probs.device()).assumptions.add(Assumption::ctc_target_length);
    }
    const std::vector<std::int64_t> all(static_cast<std::size_t>(batch), longest);
    return all;
  }
  std::vector<std::int64_t> values = to_integers(lengths);
  for (const std::int64_t value : values) {
    if (value >= 0 && value <= longest) continue;
    throw std::invalid_argument(fmt::format(
        "[ctc_loss] {} hold {}, but sequences are from 0 to {} long", name, value, longest));
  }
  return values;
}

// Where each target begins among all targets, and the step from one label to the next.
void place_targets(CtcProblem& problem, const Tensor& targets) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < problem.target_lengths.size(); ++i) {
    problem.target_begins.push_back(
        targets.dims() == 1 ? sum : static_cast<std::int64_t>(i) * targets.size(1));
    sum += problem.target_lengths[i];
  }
  if (targets.dims() == 1 && sum != targets.numel()) {
    throw std::invalid_argument(
        fmt::format("[ctc_loss] targets of {} labels do not have the lengths that are given, which "
                    "sum up to {}",
                    targets.numel(), sum));
  }
}

CtcProblem problem_of(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                      const Tensor& target_lengths, std::int64_t blank) {
  CtcProblem problem;
  problem.time = log_probs.size(0);
  problem.batch = log_probs.size(1);
  problem.classes = log_probs.size(2);
  problem.blank = blank;
  if (targets.dims() == 2 && targets.size(0) != problem.batch) {
    throw std::invalid_argument(
        fmt::format("[ctc_loss] {} targets for a batch of {}", targets.size(0), problem.batch));
  }
  if (targets.dims() == 1 && lacks_values(target_lengths)) {
    throw std::invalid_argument(
        "[ctc_loss] targets in one dimension need target_lengths with values: keep values, or pass "
        "targets as [batch, longest]");
  }
  problem.input_lengths = lengths_of(input_lengths, "input_lengths", log_probs, problem.time);
  problem.target_lengths = lengths_of(target_lengths, "target_lengths", log_probs,
                                      targets.dims() == 1 ? targets.numel() : targets.size(1));
  place_targets(problem, targets);
  for (const std::int64_t length : problem.target_lengths) {
    problem.longest_target = std::max(problem.longest_target, length);
  }
  return problem;
}

// ---- computing ----------------------------------------------------------------------------------

// The kernel is told on the GPU how long each sequence is and where each target begins.
class LengthsOnDevice {
 public:
  explicit LengthsOnDevice(const Tensor& log_probs, std::int64_t batch) {
    if (!log_probs.device().is_cuda()) return;
    for (Tensor& each : lengths_) each = empty({batch}, {DType::int64, log_probs.device()});
  }
  LengthsOnDevice(const LengthsOnDevice&) = delete;
  LengthsOnDevice& operator=(const LengthsOnDevice&) = delete;
  ~LengthsOnDevice() {
    for (const std::size_t next : {1U, 0U, 2U}) lengths_[next] = Tensor();
  }

 private:
  std::array<Tensor, 3> lengths_;
};

struct Forward {
  Tensor alpha;   ///< [batch, time, 2 · longest target + 1]
  Tensor losses;  ///< [batch]
};

Forward run_forward(const CtcProblem& problem, const Tensor& log_probs, const Tensor& targets) {
  if (Context::current().rules.ctc_looks_at_contiguous_targets && targets.device().is_cuda()) {
    for (int i = 0; i < 2; ++i) const Tensor copy = row_major(targets);
  }
  const LengthsOnDevice lengths(log_probs, problem.batch);
  Forward forward;
  forward.alpha = empty({problem.batch, problem.time, problem.states()}, options_of(log_probs));
  forward.losses = empty({problem.batch}, options_of(log_probs));
  if (lacks_values(log_probs) || lacks_values(targets)) return forward;
  const std::vector<std::int64_t> labels = to_integers(targets);
  require_labels(problem, labels);
  const CtcForward values = ctc_forward(problem, {to_doubles(log_probs), labels});
  store_values(forward.alpha, values.alpha);
  store_values(forward.losses, values.losses);
  return forward;
}

Tensor run_backward_pass(const CtcProblem& problem, BackwardCall& call, bool zero_infinity) {
  const Tensor log_probs = call.saved(0);
  const Tensor targets = call.saved(1);
  const LengthsOnDevice lengths(log_probs, problem.batch);
  const Tensor beta = empty({problem.batch, problem.time, problem.states()}, options_of(log_probs));
  Tensor gradient = empty(log_probs.shape(), options_of(log_probs));
  if (lacks_values(log_probs) || lacks_values(targets)) return gradient;
  const CtcForward forward{to_doubles(call.saved(3)), to_doubles(call.saved(2))};
  store_values(gradient, ctc_gradient(problem, {to_doubles(log_probs), to_integers(targets)},
                                      forward, to_doubles(call.grad()), zero_infinity));
  return gradient;
}

// The losses of all sequences.
Tensor losses_of(const CtcProblem& problem, const Tensor& log_probs, const Tensor& targets,
                 bool zero_infinity) {
  Recorder record("CtcLossBackward", {&log_probs});
  record.save(log_probs);
  record.save(targets);
  const Forward forward = run_forward(problem, log_probs, targets);
  record.save_output(forward.losses);
  record.save_output(forward.alpha);
  record.attach(forward.losses, [problem, zero_infinity](BackwardCall& call) {
    return TensorList{run_backward_pass(problem, call, zero_infinity)};
  });
  return forward.losses;
}

Tensor without_infinity(Tensor losses) {
  Tensor zero = zeros({}, options_of(losses));
  Tensor is_infinite = eq(losses, std::numeric_limits<double>::infinity());
  losses = where(is_infinite, zero, losses);
  is_infinite = Tensor();
  zero = Tensor();
  return losses;
}

// What the losses are divided by before their mean.
Tensor labels_of_each(const Tensor& losses, const CtcProblem& problem) {
  const Tensor lengths = empty(losses.shape(), options_of(losses));
  store_values(lengths, {problem.target_lengths.begin(), problem.target_lengths.end()});
  return clamp(lengths, 1.0, std::nullopt);
}

}  // namespace

Tensor ctc_loss(const Tensor& given_probs, const Tensor& given_targets, const Tensor& input_lengths,
                const Tensor& target_lengths, std::int64_t blank, Reduction reduction,
                bool zero_infinity) {
  const OpFront front(kCtcLoss);
  require_shapes(given_probs, given_targets, blank);
  const bool is_batched = given_probs.dims() == 3;
  const Tensor log_probs = is_batched ? given_probs : unsqueeze(given_probs, 1);
  const Tensor targets = to(is_batched ? given_targets : unsqueeze(given_targets, 0),
                            log_probs.device(), DType::int64);
  const CtcProblem problem = problem_of(log_probs, targets, input_lengths, target_lengths, blank);
  Tensor losses = losses_of(problem, log_probs, targets, zero_infinity);
  if (zero_infinity) losses = without_infinity(std::move(losses));
  if (reduction == Reduction::sum) return sum(losses);
  if (reduction == Reduction::none) return is_batched ? losses : squeeze(losses, 0);
  const Tensor labels = labels_of_each(losses, problem);
  const Tensor shares = div(losses, labels);
  return mean(shares);
}

std::vector<OpDef> ctc_loss_ops() {
  return {define(kCtcLoss, kFunctional, &ctc_loss,
                 {"log_probs",
                  "targets",
                  "input_lengths",
                  "target_lengths",
                  {"blank", std::int64_t{0}},
                  {"reduction", std::string("mean")},
                  {"zero_infinity", false}})};
}

}  // namespace ohm::ops
