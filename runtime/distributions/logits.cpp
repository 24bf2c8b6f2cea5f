#include "runtime/distributions/logits.h"

#include "runtime/base/float_limits.h"
#include "runtime/distributions/temporaries.h"
#include "runtime/ops/activation.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/clamp.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/pointwise_math.h"
#include "runtime/ops/pointwise_unary.h"
#include "runtime/ops/softmax.h"

namespace ohm::distributions {
namespace {

Tensor away_from_bounds(const Tensor& probs) {
  const FloatLimits* const limits = find_float_limits(probs.dtype());
  const double epsilon = limits == nullptr ? 0.0 : limits->eps;
  return ops::clamp(probs, epsilon, 1 - epsilon);
}

}  // namespace

Tensor logits_to_probs(const Tensor& logits, Outcomes outcomes) {
  return outcomes == Outcomes::two ? ops::sigmoid(logits) : ops::softmax(logits, -1, std::nullopt);
}

Tensor probs_to_logits(const Tensor& probs, Outcomes outcomes) {
  const Tensor clamped = away_from_bounds(probs);
  Tensor result = ops::log(clamped);
  if (outcomes == Outcomes::many) return result;
  Tensor other = ops::neg(clamped);
  other = ops::log1p(other);
  return of_temporaries([](const Tensor& a, const Tensor& b) { return ops::sub(a, b); },
                        std::move(result), std::move(other));
}

void assign_where(const Tensor& tensor, const Tensor& mask, double value) {
  ops::masked_fill_(tensor, mask, value);
}

}  // namespace ohm::distributions
