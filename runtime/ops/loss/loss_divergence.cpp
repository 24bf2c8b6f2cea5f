#include "runtime/ops/loss/loss_divergence.h"

#include <fmt/core.h>

#include "runtime/ops/loss/loss_reduction.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/pointwise/pointwise_math.h"
#include "runtime/ops/pointwise/pointwise_unary.h"
#include "runtime/ops/reduction/reduction.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kKlDiv{"kl_div", CastPolicy::float32};

Tensor divergences(const Tensor& input, const Tensor& target, bool log_target) {
  if (log_target) {
    const Tensor difference = sub(target, input);
    const Tensor probabilities = exp(target);
    return mul(probabilities, difference);
  }
  const Tensor expected = mul(target, input);
  const Tensor entropy = xlogy(target, target);
  return sub(entropy, expected);
}

}  // namespace

Tensor kl_div(const Tensor& given, const Tensor& given_target, const std::string& reduction,
              bool log_target) {
  const OpFront front(kKlDiv);
  require_floating(given, kKlDiv);
  require_same_device(given, given_target, kKlDiv);
  const bool is_batch_mean = reduction == "batchmean";
  const Reduction kind = is_batch_mean ? Reduction::sum : parse_reduction(reduction);
  Tensor total;
  {
    const Tensor target = front.input(given_target);
    const Tensor input = front.input(given);
    const Tensor losses = divergences(input, target, log_target);
    if (kind == Reduction::none) return losses;
    total = kind == Reduction::mean ? mean(losses) : sum(losses);
  }
  if (!is_batch_mean || given.dims() == 0) return total;
  return div(total, static_cast<double>(given.shape()[0]));
}

std::vector<OpDef> divergence_loss_ops() {
  return {define(kKlDiv, kFunctional, &kl_div,
                 {"input", "target", {"reduction", std::string("mean")}, {"log_target", false}})};
}

}  // namespace ohm::ops
