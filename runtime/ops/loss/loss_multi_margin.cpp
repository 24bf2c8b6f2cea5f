#include "runtime/ops/loss/loss_multi_margin.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/recorder.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/loss/loss_kernel.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/shape/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kMultiMargin{"multi_margin_loss", CastPolicy::float32};

struct MarginPlan {
  std::int64_t samples = 1;
  std::int64_t classes = 0;
  std::int64_t p = 1;
  double margin = 1.0;
  Reduction reduction = Reduction::mean;
};

MarginPlan margin_plan(const Tensor& input, const Tensor& target,
                       const std::optional<Tensor>& weight, std::int64_t p, double margin,
                       Reduction reduction) {
  require_floating(input, kMultiMargin);
  require_same_device(input, target, kMultiMargin);
  if (p != 1 && p != 2) {
    throw std::invalid_argument("[multi_margin_loss] only p == 1 and p == 2 supported");
  }
  const int dims = input.dims();
  const std::int64_t samples = dims == 2 ? input.shape()[0] : 1;
  const bool fits = (dims == 1 || dims == 2) && input.numel() > 0 && target.dims() <= 1 &&
                    target.numel() == samples && target.dtype() == DType::int64;
  if (!fits) {
    throw std::invalid_argument(fmt::format(
        "[multi_margin_loss] expected scores [N, C] or [C] and an int64 class of each, but got {} "
        "and {}",
        describe(input), describe(target)));
  }
  const std::int64_t classes = input.shape().back();
  if (weight) {
    require_alike(kMultiMargin, input, *weight);
    if (weight->dims() != 1 || weight->numel() != classes) {
      throw std::invalid_argument(
          fmt::format("[multi_margin_loss] expected a weight of {} classes, but got {}", classes,
                      weight->shape().str()));
    }
  }
  return {samples, classes, p, margin, reduction};
}

struct MarginOperands {
  std::vector<double> scores;
  std::vector<std::int64_t> targets;
  std::vector<double> weights;

  MarginOperands(const MarginPlan& plan, const Tensor& input, const Tensor& target,
                 const Tensor& weight)
      : scores(to_doubles(input)), targets(to_integers(target)) {
    if (weight.defined()) weights = to_doubles(weight);
    for (const std::int64_t each : targets) {
      if (each >= 0 && each < plan.classes) continue;
      throw std::invalid_argument(fmt::format(
          "[multi_margin_loss] target {} is out of bounds of {} classes", each, plan.classes));
    }
  }
};

// Calls visit(sample, class, by how much its score violates the margin, factor).
template <class Visit>
void for_each_violation(const MarginPlan& plan, const MarginOperands& operands,
                        const Visit& visit) {
  for (std::int64_t sample = 0; sample < plan.samples; ++sample) {
    const std::int64_t target = operands.targets[static_cast<std::size_t>(sample)];
    const auto score = [&](std::int64_t each) {
      return operands.scores[static_cast<std::size_t>(sample * plan.classes + each)];
    };
    const double weight =
        operands.weights.empty() ? 1.0 : operands.weights[static_cast<std::size_t>(target)];
    for (std::int64_t each = 0; each < plan.classes; ++each) {
      const double gap = plan.margin - score(target) + score(each);
      if (each != target && gap > 0) {
        visit(sample, each, gap, weight / static_cast<double>(plan.classes));
      }
    }
  }
}

void compute_margins(const MarginPlan& plan, const Tensor& input, const Tensor& target,
                     const Tensor& weight, const Tensor& losses) {
  if (!losses.has_values()) return;
  const MarginOperands operands(plan, input, target, weight);
  std::vector<double> values(static_cast<std::size_t>(plan.samples), 0.0);
  for_each_violation(
      plan, operands, [&](std::int64_t sample, std::int64_t, double gap, double factor) {
        values[static_cast<std::size_t>(sample)] += factor * (plan.p == 1 ? gap : gap * gap);
      });
  store_values(losses, values);
}

Tensor multi_margins(const MarginPlan& plan, const Tensor& given, const Tensor& given_target,
                     const Tensor& given_weight) {
  const bool is_list = plan.reduction == Reduction::none && given_target.dims() > 0;
  Tensor out = empty(is_list ? Shape{plan.samples} : Shape{}, options_of(given));
  const Tensor input = row_major(given);
  const Tensor target = row_major(given_target);
  const Tensor weight = given_weight.defined() ? row_major(given_weight) : Tensor();
  if (is_list || given.dims() == 1) {
    compute_margins(plan, input, target, weight, out);
    return out;
  }
  const Tensor losses = empty({plan.samples}, options_of(given));
  compute_margins(plan, input, target, weight, losses);
  if (plan.reduction == Reduction::none) {
    copy_into(out, reshape(losses, {}));
  } else {
    reduce_losses_into(out, losses, plan.reduction);
  }
  return out;
}

Tensor multi_margin_gradient(const MarginPlan& plan, const Tensor& given_grad, const Tensor& given,
                             const Tensor& given_target, const Tensor& given_weight) {
  Tensor out = empty(given.shape(), options_of(given));
  const Tensor input = row_major(given);
  const Tensor grad = row_major(given_grad);
  const Tensor target = row_major(given_target);
  const Tensor weight = given_weight.defined() ? row_major(given_weight) : Tensor();
  if (!out.has_values()) return out;
  const MarginOperands operands(plan, input, target, weight);
  const std::vector<double> incoming = to_doubles(grad);
  std::vector<double> slopes(static_cast<std::size_t>(out.numel()), 0.0);
  const double share = gradient_factor(plan.reduction, plan.samples);
  for_each_violation(plan, operands,
                     [&](std::int64_t sample, std::int64_t each, double gap, double factor) {
                       const auto row = static_cast<std::size_t>(sample);
                       const double from = incoming[incoming.size() == 1 ? 0 : row] * share;
                       const double slope = from * factor * (plan.p == 1 ? 1.0 : 2.0 * gap);
                       const std::int64_t first = sample * plan.classes;
                       slopes[static_cast<std::size_t>(first + each)] += slope;
                       slopes[static_cast<std::size_t>(first + operands.targets[row])] -= slope;
                     });
  store_values(out, slopes);
  return out;
}

}  // namespace

Tensor multi_margin_loss(const Tensor& given, const Tensor& target, std::int64_t p, double margin,
                         const std::optional<Tensor>& given_weight, Reduction reduction) {
  const OpFront front(kMultiMargin);
  const std::optional<Tensor> weight = front.input(given_weight);
  const Tensor input = front.input(given);
  const MarginPlan plan = margin_plan(input, target, weight, p, margin, reduction);
  Recorder record("MultiMarginLossBackward", {&input});
  record.save(input);
  record.save(target);
  if (weight) record.save(*weight);
  Tensor out = multi_margins(plan, input, target, weight.value_or(Tensor()));
  record.attach(out, [plan, has_weight = weight.has_value()](BackwardCall& call) {
    return TensorList{multi_margin_gradient(plan, call.grad(), call.saved(0), call.saved(1),
                                            has_weight ? call.saved(2) : Tensor())};
  });
  return out;
}

std::vector<OpDef> multi_margin_ops() {
  return {
      define(kMultiMargin, kFunctional, &multi_margin_loss,
             {"input",
              "target",
              {"p", std::int64_t{1}},
              {"margin", 1.0},
              ParamName::constant("weight"),
              {"reduction", std::string("mean")}}),
  };
}

}  // namespace ohm::ops
