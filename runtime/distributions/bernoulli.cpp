#include "runtime/distributions/bernoulli.h"

#include <limits>
#include <stdexcept>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/distributions/logits.h"
#include "runtime/distributions/temporaries.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/comparison.h"
#include "runtime/ops/convert.h"
#include "runtime/ops/loss_bce.h"
#include "runtime/ops/sampling.h"
#include "runtime/ops/view.h"

namespace ohm::distributions {

using ops::TensorOrNumber;

Bernoulli::Bernoulli(const std::optional<TensorOrNumber>& probs,
                     const std::optional<TensorOrNumber>& logits, bool validates)
    : Distribution(validates) {
  if (probs.has_value() == logits.has_value()) {
    throw std::invalid_argument(
        "[Bernoulli] Either `probs` or `logits` must be specified, but not both.");
  }
  add_field(probs ? "probs" : "logits", broadcast_all({probs ? *probs : *logits})[0]);
  set_shapes(given().shape(), {});
  validate({{"probs", unit_interval()}, {"logits", real()}});
}

Bernoulli::Bernoulli(const Bernoulli& of, const Shape& batch_shape) : Distribution(of.validates()) {
  for (const std::string_view name : of.parameter_names()) {
    const Tensor* const field = of.find_field(name);
    if (field != nullptr) add_field(name, ops::expand(*field, batch_shape));
  }
  set_shapes(given().shape(), {});
  release_first(of.released_first());
}

DistributionPtr Bernoulli::expand(const Shape& batch_shape) const {
  return DistributionPtr(new Bernoulli(*this, batch_shape));
}

const Tensor& Bernoulli::given() const {
  const Tensor* const probs = find_field("probs");
  return probs != nullptr ? *probs : *find_field("logits");
}

Tensor Bernoulli::parameter(std::string_view name) {
  if (find_field(name) == nullptr) {
    const GradModeGuard in_the_graph(true);
    if (name == "probs") add_field("probs", logits_to_probs(given(), Outcomes::two));
    if (name == "logits") add_field("logits", probs_to_logits(given(), Outcomes::two));
  }
  return Distribution::parameter(name);
}

Tensor Bernoulli::mode() {
  Tensor is_one = ops::ge(probs(), 0.5);
  Tensor result = ops::to_dtype(is_one, probs().dtype());
  is_one = Tensor();
  const Tensor is_tie = ops::eq(probs(), 0.5);
  assign_where(result, is_tie, std::numeric_limits<double>::quiet_NaN());
  return result;
}

Tensor Bernoulli::variance() {
  const Tensor ones = probs();
  const Tensor zeros = ops::rsub(ones, 1);
  return ops::mul(ones, zeros);
}

Tensor Bernoulli::sample(const Shape& sample_shape) {
  const Shape shape = extended_shape(sample_shape);
  const NoGradGuard no_grad;
  return ops::bernoulli(ops::expand(probs(), shape));
}

Tensor Bernoulli::log_prob(const Tensor& value) {
  validate_sample(value);
  const std::vector<Tensor> both = broadcast_all({logits(), value});
  const Tensor loss = ops::binary_cross_entropy_with_logits(both[0], both[1], std::nullopt,
                                                            ops::Reduction::none, std::nullopt);
  return ops::neg(loss);
}

Tensor Bernoulli::entropy() {
  const Tensor first = logits();
  return ops::binary_cross_entropy_with_logits(first, probs(), std::nullopt, ops::Reduction::none,
                                               std::nullopt);
}

Tensor Bernoulli::enumerate_support(bool expand) {
  return spread_over_batch(arange(0, 1, 2, options_of(given())), batch_shape(), expand);
}

}  // namespace ohm::distributions
