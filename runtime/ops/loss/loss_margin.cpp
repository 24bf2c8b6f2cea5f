#include "runtime/ops/loss/loss_margin.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/arithmetic/factories.h"
#include "runtime/ops/composed.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/pointwise/choice.h"
#include "runtime/ops/pointwise/clamp.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/pointwise/inplace_unary.h"
#include "runtime/ops/pointwise/pointwise_unary.h"
#include "runtime/ops/reduction/reduction.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kMarginRanking{"margin_ranking_loss", CastPolicy::float32};
constexpr OpInfo kHingeEmbedding{"hinge_embedding_loss", CastPolicy::float32};
constexpr OpInfo kTripletMargin{"triplet_margin_loss", CastPolicy::float32};
constexpr OpInfo kPoissonNll{"poisson_nll_loss", CastPolicy::float32};

// By ops that record themselves, as the rest of these losses.
Tensor summed_up(const Tensor& losses, Reduction reduction) {
  if (reduction == Reduction::none) return losses;
  return reduction == Reduction::mean ? mean(losses) : sum(losses);
}

}  // namespace

Tensor margin_ranking_loss(const Tensor& given1, const Tensor& given2, const Tensor& given_target,
                           double margin, Reduction reduction) {
  const OpFront front(kMarginRanking);
  const Tensor target = front.input(given_target);
  const Tensor input2 = front.input(given2);
  const Tensor input1 = front.input(given1);
  require_same_device(input1, target, kMarginRanking);
  Tensor losses;
  {
    const Tensor difference = sub(input1, input2);
    const Tensor opposite = neg(target);
    const Tensor product = mul(opposite, difference);
    losses = add(product, margin);
  }
  clamp_(losses, 0.0, std::nullopt);
  return summed_up(losses, reduction);
}

Tensor hinge_embedding_loss(const Tensor& given, const Tensor& given_target, double margin,
                            Reduction reduction) {
  const OpFront front(kHingeEmbedding);
  const Tensor target = front.input(given_target);
  const Tensor input = front.input(given);
  require_same_device(input, target, kHingeEmbedding);
  const Tensor zero = zeros_like(input);
  const Tensor margins = rsub(input, margin);
  clamp_(margins, 0.0, std::nullopt);
  const Tensor apart = where(ne(target, 1.0), margins, zero);
  const Tensor together = where(ne(target, -1.0), input, zero);
  const Tensor losses = add(apart, together);
  return summed_up(losses, reduction);
}

Tensor triplet_margin_loss(const Tensor& given, const Tensor& given_positive,
                           const Tensor& given_negative, double margin, double p, double eps,
                           bool swap, Reduction reduction) {
  const OpFront front(kTripletMargin);
  if (!(margin > 0.0)) {
    throw std::invalid_argument(
        fmt::format("[triplet_margin_loss] margin must be greater than 0, got {}", margin));
  }
  const Tensor negative = front.input(given_negative);
  const Tensor positive = front.input(given_positive);
  const Tensor anchor = front.input(given);
  const Tensor near = pairwise_distance(anchor, positive, p, eps, false);
  Tensor far = pairwise_distance(anchor, negative, p, eps, false);
  if (swap) {
    const Tensor between = pairwise_distance(positive, negative, p, eps, false);
    far = minimum(far, between);
  }
  Tensor losses;
  {
    const Tensor shifted = add(near, margin);
    const Tensor gap = sub(shifted, far);
    losses = clamp(gap, 0.0, std::nullopt);
  }
  return summed_up(losses, reduction);
}

Tensor poisson_nll_loss(const Tensor& given, const Tensor& given_target, bool log_input, double eps,
                        Reduction reduction) {
  const OpFront front(kPoissonNll);
  const Tensor target = front.input(given_target);
  const Tensor input = front.input(given);
  Tensor losses;
  if (log_input) {
    const Tensor product = mul(target, input);
    const Tensor rate = exp(input);
    losses = sub(rate, product);
  } else {
    const Tensor shifted = add(input, eps);
    const Tensor logarithm = log(shifted);
    const Tensor product = mul(target, logarithm);
    losses = sub(input, product);
  }
  return summed_up(losses, reduction);
}

std::vector<OpDef> margin_loss_ops() {
  const ParamName reduction{"reduction", std::string("mean")};
  return {
      define(kMarginRanking, kFunctional, &margin_ranking_loss,
             {"input1", "input2", ParamName::constant("target"), {"margin", 0.0}, reduction}),
      define(kHingeEmbedding, kFunctional, &hinge_embedding_loss,
             {"input", ParamName::constant("target"), {"margin", 1.0}, reduction}),
      define(kTripletMargin, kFunctional, &triplet_margin_loss,
             {"anchor",
              "positive",
              "negative",
              {"margin", 1.0},
              {"p", 2.0},
              {"eps", 1e-6},
              {"swap", false},
              reduction}),
      define(kPoissonNll, kFunctional, &poisson_nll_loss,
             {"input", "target", {"log_input", true}, {"eps", 1e-8}, reduction}),
  };
}

}  // namespace ohm::ops
