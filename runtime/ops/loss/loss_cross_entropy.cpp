#include "runtime/ops/loss/loss_cross_entropy.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/arithmetic/factories.h"
#include "runtime/ops/activation/softmax.h"
#include "runtime/ops/indexing/indexing.h"
#include "runtime/ops/loss/loss_nll.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/shape/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kCrossEntropy{"cross_entropy"};

int class_dim(const Tensor& input) { return input.dims() == 1 ? 0 : 1; }

struct Smoothing {
  double share;  ///< of the target that all classes divide among them
  std::int64_t classes;

  double of_each_class() const { return share / static_cast<double>(classes); }
};

Tensor sum_over_classes(const Tensor& tensor, int dim) {
  return sum(tensor, Shape{dim}, false, std::nullopt);
}

// The weight of each class, seen with the dimensions of the input. A view.
Tensor spread_weight(const Tensor& weight, const Tensor& input) {
  Shape shape(input.dims(), 1);
  shape[class_dim(input)] = weight.numel();
  return view(weight, shape);
}

bool is_probabilities(const Tensor& input, const Tensor& target) {
  return is_floating(target.dtype()) && target.shape() == input.shape() && input.dims() > 0;
}

// Temporaries live to the end of their formula and go in reverse: so they have names here.
Tensor loss_of_products(const Tensor& products, const Tensor& input, Reduction reduction) {
  if (reduction == Reduction::none) {
    const Tensor sums = sum_over_classes(products, class_dim(input));
    return neg(sums);
  }
  const Tensor total = sum(products);
  const Tensor negated = neg(total);
  if (reduction == Reduction::sum) return negated;
  const std::int64_t classes = input.shape()[class_dim(input)];
  return div(negated, static_cast<double>(input.numel()) / static_cast<double>(classes));
}

Tensor with_probabilities(const Tensor& logits, const Tensor& given,
                          const std::optional<Tensor>& weight, Reduction reduction,
                          const Smoothing& smoothing) {
  const Tensor input = log_softmax(logits, class_dim(logits), logits.dtype());
  Tensor target = given;
  if (smoothing.share > 0.0) {
    const Tensor kept = mul(given, 1.0 - smoothing.share);
    target = add(kept, smoothing.of_each_class());
  }
  const Tensor products = mul(input, target);
  if (!weight) return loss_of_products(products, input, reduction);
  const Tensor weighted = mul(products, spread_weight(*weight, input));
  return loss_of_products(weighted, input, reduction);
}

// The sum of the weights of all targets that count.
Tensor total_weight(const Tensor& weight, const Tensor& target, const Tensor& ignored) {
  const Tensor known = masked_fill(target, ignored, 0.0);
  const Tensor flat = reshape(known, {-1});
  const Tensor weights = gather(weight, 0, flat);
  const Tensor counted = masked_fill(weights, reshape(ignored, {-1}), 0.0);
  return sum(counted);
}

Tensor smooth_mean(const Tensor& losses, const std::optional<Tensor>& weight, const Tensor& target,
                   const Tensor& ignored) {
  const Tensor counts = eq(ignored, 0.0);
  const Tensor divisor = weight ? total_weight(*weight, target, ignored) : sum(counts);
  const Tensor total = sum(losses);
  return div(total, divisor);
}

Tensor with_smoothed_classes(const Tensor& logits, const Tensor& target,
                             const std::optional<Tensor>& weight, std::int64_t ignore_index,
                             Reduction reduction, const Smoothing& smoothing) {
  const int classes = class_dim(logits);
  const Tensor input = log_softmax(logits, classes, logits.dtype());
  const Tensor nll = nll_loss(input, target, weight, ignore_index, reduction);
  Tensor smooth;
  if (weight) {
    const Tensor weighted = mul(input, spread_weight(*weight, input));
    const Tensor sums = sum_over_classes(weighted, classes);
    smooth = neg(sums);
  } else {
    const Tensor sums = sum_over_classes(input, classes);
    smooth = neg(sums);
  }
  const Tensor ignored = eq(target, ignore_index);
  masked_fill_(smooth, ignored, 0.0);
  Tensor result = smooth;
  if (reduction == Reduction::sum) result = sum(smooth);
  if (reduction == Reduction::mean) result = smooth_mean(smooth, weight, target, ignored);
  const Tensor smooth_share = mul(result, smoothing.of_each_class());
  const Tensor nll_share = mul(nll, 1.0 - smoothing.share);
  return add(nll_share, smooth_share);
}

}  // namespace

Tensor cross_entropy(const Tensor& input, const Tensor& target, const std::optional<Tensor>& weight,
                     std::int64_t ignore_index, Reduction reduction, double label_smoothing) {
  const OpFront front(kCrossEntropy);
  if (!(label_smoothing >= 0.0 && label_smoothing <= 1.0)) {
    throw std::invalid_argument(fmt::format(
        "[cross_entropy] label_smoothing must be between 0 and 1, not {}", label_smoothing));
  }
  const bool has_probabilities = is_probabilities(input, target);
  if (!has_probabilities) check_class_targets(input, target, weight);
  const Smoothing smoothing{label_smoothing, input.shape()[class_dim(input)]};
  if (has_probabilities) return with_probabilities(input, target, weight, reduction, smoothing);
  if (label_smoothing > 0.0) {
    return with_smoothed_classes(input, target, weight, ignore_index, reduction, smoothing);
  }
  const Tensor log_probabilities = log_softmax(input, class_dim(input), input.dtype());
  return nll_loss(log_probabilities, target, weight, ignore_index, reduction);
}

std::vector<OpDef> cross_entropy_ops() {
  return {define(kCrossEntropy, kFunctional, &cross_entropy,
                 {"input",
                  "target",
                  ParamName::constant("weight"),
                  {"ignore_index", std::int64_t{-100}},
                  {"reduction", std::string("mean")},
                  {"label_smoothing", 0.0}})};
}

}  // namespace ohm::ops
