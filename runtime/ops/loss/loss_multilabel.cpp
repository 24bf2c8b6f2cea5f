#include "runtime/ops/loss/loss_multilabel.h"

#include <utility>

#include "runtime/lifetimes/lifetimes.h"
#include "runtime/ops/activation/activation.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/reduction/reduction.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kMultilabelSoftMargin{"multilabel_soft_margin_loss"};

// target · log σ(input)
Tensor rights(const Tensor& input, const Tensor& target) {
  const Tensor logs = logsigmoid(input);
  return mul(target, logs);
}

// (1 − target) · log σ(−input)
Tensor wrongs(const Tensor& input, const Tensor& target) {
  Tensor others = rsub(target, 1.0);
  Tensor logs;
  {
    const Tensor opposite = neg(input);
    logs = logsigmoid(opposite);
  }
  Tensor out = mul(others, logs);
  others = Tensor();
  return out;
}

Tensor negated_sum(const Tensor& input, const Tensor& target) {
  Tensor both;
  {
    Tensor first = rights(input, target);
    const Tensor second = wrongs(input, target);
    both = add(first, second);
    first = Tensor();
  }
  return neg(both);
}

Tensor mean_of_classes(const Tensor& losses) {
  const std::int64_t classes = losses.size(-1);
  const Tensor sums = sum(losses, Shape{-1}, false, std::nullopt);
  return div(sums, static_cast<double>(classes));
}

}  // namespace

Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target,
                                   const std::optional<Tensor>& weight, Reduction reduction) {
  const OpFront front(kMultilabelSoftMargin);
  Tensor losses = negated_sum(input, target);
  if (weight) losses = mul(losses, *weight);
  losses = mean_of_classes(losses);
  if (reduction == Reduction::none) return losses;
  Tensor out = reduction == Reduction::mean ? mean(losses) : sum(losses);
  outlive_arguments(std::move(losses));
  return out;
}

std::vector<OpDef> multilabel_ops() {
  return {
      define(
          kMultilabelSoftMargin, kFunctional, &multilabel_soft_margin_loss,
          {"input", "target", ParamName::constant("weight"), {"reduction", std::string("mean")}}),
  };
}

}  // namespace ohm::ops
