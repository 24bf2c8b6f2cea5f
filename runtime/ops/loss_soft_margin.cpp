#include "runtime/ops/loss_soft_margin.h"

#include <fmt/core.h>

#include <cmath>
#include <numbers>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/recorder.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/functions.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/binary_kernel.h"
#include "runtime/ops/choice.h"
#include "runtime/ops/comparison.h"
#include "runtime/ops/convert.h"
#include "runtime/ops/inplace_binary.h"
#include "runtime/ops/inplace_unary.h"
#include "runtime/ops/loss_kernel.h"
#include "runtime/ops/pointwise_math.h"
#include "runtime/ops/pointwise_unary.h"
#include "runtime/ops/power.h"
#include "runtime/ops/reduction.h"
#include "runtime/ops/view.h"
#include "runtime/tensor/locals_of_call.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kSoftMargin{"soft_margin_loss", CastPolicy::float32};
constexpr OpInfo kMultiMargin{"multi_margin_loss", CastPolicy::float32};
constexpr OpInfo kCosineEmbedding{"cosine_embedding_loss", CastPolicy::float32};
constexpr OpInfo kGaussianNll{"gaussian_nll_loss"};

Tensor reduced_by_ops(const Tensor& losses, Reduction reduction) {
  if (reduction == Reduction::none) return losses;
  return reduction == Reduction::mean ? mean(losses) : sum(losses);
}

// ---- soft margin --------------------------------------------------------------------------------

// In place after the first step; the reduced loss is copied into what was all losses.
Tensor soft_margins(const Tensor& input, const Tensor& target, Reduction reduction) {
  const NoGradGuard no_graph;
  Tensor out = neg(input);
  mul_(out, target);
  map_floating(out, out.dtype(), functors::Exp(), out);
  map_floating(out, out.dtype(), functors::Log1p(), out);
  if (reduction == Reduction::none) return out;
  const Tensor loss = reduced(out, reduction);
  shrink_to_scalar(out);
  copy_into(out, loss);
  return out;
}

Tensor soft_margin_gradient(const Tensor& grad, const Tensor& input, const Tensor& target,
                            Reduction reduction) {
  const NoGradGuard no_graph;
  Tensor powers;
  {
    const Tensor opposite = neg(target);
    const Tensor product = mul(opposite, input);
    powers = exp(product);
  }
  Tensor out = mul(target, powers);
  mul_(out, -gradient_factor(reduction, input.numel()));
  add_(powers, 1.0);
  div_(out, powers);
  mul_(out, grad);
  return out;
}

// With z = exp(−t · x) the slope bends as t² · z / (1 + z)².
Tensor soft_margin_bend(const Tensor& grad, const Tensor& input, const Tensor& target,
                        Reduction reduction) {
  Tensor powers;
  {
    const Tensor opposite = neg(target);
    const Tensor product = mul(input, opposite);
    powers = exp(product);
  }
  const Tensor raised = add(powers, 1.0);
  const Tensor squared = mul(raised, raised);
  const Tensor squared_target = mul(target, target);
  const Tensor weighted = mul(grad, squared_target);
  const Tensor scaled = mul(weighted, powers);
  Tensor bent = div(scaled, squared);
  if (reduction != Reduction::mean) return bent;
  return mul_(bent, gradient_factor(reduction, input.numel()));
}

// The gradient as an op of its own, with a gradient.
Tensor recorded_soft_margin_gradient(const Tensor& grad, const Tensor& input, const Tensor& target,
                                     Reduction reduction) {
  Recorder record("SoftMarginLossBackwardBackward", {&grad, &input});
  record.save(grad);
  record.save(input);
  record.save(target);
  Tensor out = soft_margin_gradient(grad, input, target, reduction);
  record.attach_differentiable(out, [reduction](BackwardCall& call) {
    const Tensor first_grad = call.saved(0);
    const Tensor x = call.saved(1);
    const Tensor t = call.saved(2);
    TensorList grads(2);
    if (call.needs(0) && reduction == Reduction::none) {
      grads[0] = recorded_soft_margin_gradient(call.grad(), x, t, reduction);
    } else if (call.needs(0)) {
      Tensor slopes;
      {
        const Tensor one = ones_like(first_grad);
        slopes = recorded_soft_margin_gradient(one, x, t, reduction);
      }
      grads[0] = sum(mul(slopes, call.grad()));
    }
    if (call.needs(1)) {
      const Tensor both = mul(call.grad(), first_grad);
      grads[1] = soft_margin_bend(both, x, t, reduction);
    }
    return grads;
  });
  return out;
}

// ---- multi margin -------------------------------------------------------------------------------

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

// ---- cosine embedding, Gaussian likelihood ------------------------------------------------------

// The sum of the squares along `dim`, and a little.
Tensor squared_length(const Tensor& vectors, std::int64_t dim) {
  const Tensor squares = mul(vectors, vectors);
  const Tensor total = sum(squares, Shape{dim}, false, std::nullopt);
  return add(total, 1e-12);
}

void require_vectors(const Tensor& input1, const Tensor& input2, const Tensor& target) {
  const bool fits = target.dims() <= 1 && input1.dims() == target.dims() + 1 &&
                    input2.dims() == target.dims() + 1;
  if (fits) return;
  throw std::invalid_argument(fmt::format(
      "[cosine_embedding_loss] expected [N, D], [N, D] and [N], or [D], [D] and a number, but got "
      "{}, {} and {}",
      input1.shape().str(), input2.shape().str(), target.shape().str()));
}

// A variance of the input's shape, or of one number for its last dimension.
Tensor fitting_variance(const Tensor& var, const Shape& shape) {
  if (var.shape() == shape) return var;
  Shape rows = shape;
  if (!rows.empty()) rows.erase(rows.dims() - 1);
  if (var.shape() == rows) return unsqueeze(var, -1);
  Shape ones = rows;
  ones.push_back(1);
  if (var.shape() == ones) return var;
  throw std::invalid_argument(
      fmt::format("[gaussian_nll_loss] var is of incorrect size: {} for an input of {}",
                  var.shape().str(), shape.str()));
}

void forbid_negative(const Tensor& var) {
  Tensor is_negative;
  {
    const Tensor are_negative = lt(var, 0.0);
    is_negative = any(are_negative);
  }
  if (is_negative.has_values() && is_negative.item() != 0.0) {
    throw std::invalid_argument("[gaussian_nll_loss] var has negative entry/entries");
  }
}

// Half of log var + (input - target)² / var.
Tensor gaussian_losses(const Tensor& input, const Tensor& target, const Tensor& var) {
  Tensor logarithm = log(var);
  Tensor quotient;
  {
    Tensor square;
    {
      const Tensor gap = sub(input, target);
      square = pow(gap, 2.0);
    }
    quotient = div(square, var);
  }
  const Tensor total = add(logarithm, quotient);
  logarithm = Tensor();
  quotient = Tensor();
  return mul(total, 0.5);
}

Tensor scores() { return randn({3, 4}, {DType::float64, Device::cpu()}); }
Tensor classes_of_scores() { return from_values({1, 0, 3}, {3}, {DType::int64, Device::cpu()}); }
Tensor opposites() { return from_values({1, -1, 1}, {3}, {DType::float64, Device::cpu()}); }

}  // namespace

Tensor soft_margin_loss(const Tensor& given, const Tensor& given_target, Reduction reduction) {
  const OpFront front(kSoftMargin);
  const Tensor target = front.input(given_target);
  const Tensor input = front.input(given);
  require_floating(input, kSoftMargin);
  require_same_device(input, target, kSoftMargin);
  Recorder record("SoftMarginLossBackward", {&input});
  record.save(input);
  record.save(target);
  Tensor out = soft_margins(input, target, reduction);
  record.attach_differentiable(out, [reduction](BackwardCall& call) {
    return TensorList{
        recorded_soft_margin_gradient(call.grad(), call.saved(0), call.saved(1), reduction)};
  });
  return out;
}

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

Tensor cosine_embedding_loss(const Tensor& given1, const Tensor& given2, const Tensor& given_target,
                             double margin, Reduction reduction) {
  const OpFront front(kCosineEmbedding);
  const Tensor target = front.input(given_target);
  const Tensor input2 = front.input(given2);
  const Tensor input1 = front.input(given1);
  require_same_device(input1, target, kCosineEmbedding);
  require_vectors(input1, input2, target);
  const std::int64_t dim = target.dims();
  Tensor product;
  {
    const Tensor products = mul(input1, input2);
    product = sum(products, Shape{dim}, false, std::nullopt);
  }
  const Tensor length1 = squared_length(input1, dim);
  const Tensor length2 = squared_length(input2, dim);
  const Tensor squared = mul(length1, length2);
  const Tensor denominator = sqrt_(squared);
  const Tensor cosine = div(product, denominator);
  const Tensor zero = zeros(cosine.shape(), options_of(cosine));
  const Tensor apart = rsub(cosine, 1.0);
  const Tensor beyond = sub(cosine, margin);
  clamp_(beyond, 0.0, std::nullopt);
  const Tensor of_alike = where(eq(target, 1.0), apart, zero);
  const Tensor of_unlike = where(eq(target, -1.0), beyond, zero);
  const Tensor losses = add(of_alike, of_unlike);
  return reduced_by_ops(losses, reduction);
}

Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& given_var,
                         bool full, double eps, Reduction reduction) {
  const OpFront front(kGaussianNll);
  forbid_negative(given_var);
  Tensor var = clone(fitting_variance(given_var, input.shape()));
  {
    const NoGradGuard no_graph;
    clamp_(var, eps, std::nullopt);
  }
  Tensor losses = gaussian_losses(input, target, var);
  if (full) add_(losses, 0.5 * std::log(2 * std::numbers::pi));
  Tensor out = reduced_by_ops(losses, reduction);
  outlive_arguments(std::move(var));
  outlive_arguments(std::move(losses));
  return out;
}

std::vector<OpDef> soft_margin_ops() {
  const ParamName reduction{"reduction", std::string("mean")};
  const TensorOptions options{DType::float64, Device::cpu()};
  return {
      define(kSoftMargin, kFunctional, &soft_margin_loss,
             {"input", ParamName::constant("target"), reduction},
             [] {
               const Tensor targets = from_values({1, -1, 1, 1}, {4}, options_of(scores()));
               return std::vector<Sample>{{scores(), targets},
                                          {scores(), scores(), std::string("none")}};
             }),
      define(kMultiMargin, kFunctional, &multi_margin_loss,
             {"input",
              "target",
              {"p", std::int64_t{1}},
              {"margin", 1.0},
              ParamName::constant("weight"),
              reduction},
             [options] {
               const Tensor weight = rand({4}, options);
               return std::vector<Sample>{{scores(), classes_of_scores()},
                                          {scores(), classes_of_scores(), std::int64_t{2}, 0.7,
                                           weight, std::string("none")}};
             }),
      define(kCosineEmbedding, kFunction | kFunctional, &cosine_embedding_loss,
             {"input1", "input2", ParamName::constant("target"), {"margin", 0.0}, reduction},
             [] {
               return std::vector<Sample>{{scores(), scores(), opposites(), -0.9}};
             }),
      define(kGaussianNll, kFunctional, &gaussian_nll_loss,
             {"input", "target", "var", {"full", false}, {"eps", 1e-6}, reduction},
             [options] {
               return std::vector<Sample>{{scores(), scores(), add(rand({3, 4}, options), 0.5)},
                                          {scores(), scores(), add(rand({3}, options), 0.5), true,
                                           1e-6, std::string("sum")}};
             }),
  };
}

}  // namespace ohm::ops
