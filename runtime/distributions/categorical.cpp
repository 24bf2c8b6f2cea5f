#include "runtime/distributions/categorical.h"

#include <fmt/format.h>

#include <limits>
#include <stdexcept>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/base/float_limits.h"
#include "runtime/distributions/logits.h"
#include "runtime/distributions/temporaries.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/clamp.h"
#include "runtime/ops/convert.h"
#include "runtime/ops/extremum.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/product.h"
#include "runtime/ops/reduction.h"
#include "runtime/ops/sampling.h"
#include "runtime/ops/slice.h"
#include "runtime/ops/view.h"

namespace ohm::distributions {
namespace {

Shape without_last(Shape shape) {
  shape.erase(shape.dims() - 1);
  return shape;
}

void require_vectors(const Tensor& weights, std::string_view name) {
  if (weights.dims() > 0) return;
  throw std::invalid_argument(
      fmt::format("[Categorical] `{}` parameter must be at least one-dimensional.", name));
}

Tensor with_sum_of_one(const Tensor& weights) {
  const Tensor sums = ops::sum(weights, Shape{-1}, true, std::nullopt);
  return ops::div(weights, sums);
}

Tensor normalized(const Tensor& logits) {
  const Tensor sums = ops::logsumexp(logits, Shape{-1}, true);
  return ops::sub(logits, sums);
}

}  // namespace

Categorical::Categorical(const std::optional<Tensor>& probs, const std::optional<Tensor>& logits,
                         bool validates)
    : Distribution(validates) {
  if (probs.has_value() == logits.has_value()) {
    throw std::invalid_argument(
        "[Categorical] Either `probs` or `logits` must be specified, but not both.");
  }
  if (probs) {
    require_vectors(*probs, "probs");
    add_field("probs", with_sum_of_one(*probs));
  } else {
    require_vectors(*logits, "logits");
    add_field("logits", normalized(*logits));
  }
  set_shapes(without_last(given().shape()), {});
  validate({{"probs", simplex()}, {"logits", real_vector()}});
}

Categorical::Categorical(const Categorical& of, const Shape& batch_shape)
    : Distribution(of.validates()) {
  for (const std::string_view name : of.parameter_names()) {
    const Tensor* const field = of.find_field(name);
    if (field == nullptr) continue;
    add_field(name, ops::expand(*field, joined(batch_shape, {of.events()})));
  }
  set_shapes(without_last(given().shape()), {});
  release_first(of.released_first());
}

DistributionPtr Categorical::expand(const Shape& batch_shape) const {
  return DistributionPtr(new Categorical(*this, batch_shape));
}

const Tensor& Categorical::given() const {
  const Tensor* const probs = find_field("probs");
  return probs != nullptr ? *probs : *find_field("logits");
}

Tensor Categorical::parameter(std::string_view name) {
  if (find_field(name) == nullptr) {
    const GradModeGuard in_the_graph(true);
    if (name == "probs") add_field("probs", logits_to_probs(given(), Outcomes::many));
    if (name == "logits") add_field("logits", probs_to_logits(given(), Outcomes::many));
  }
  return Distribution::parameter(name);
}

// A number has none.
Tensor Categorical::mean() {
  return full(extended_shape({}), std::numeric_limits<double>::quiet_NaN(), options_of(probs()));
}

Tensor Categorical::mode() { return ops::argmax(probs(), -1, false); }

Tensor Categorical::sample(const Shape& sample_shape) {
  Tensor rows = ops::reshape(probs(), Shape{-1, events()});
  Tensor samples = ops::t(ops::multinomial(rows, sample_shape.numel(), true));
  Tensor result = ops::reshape(samples, extended_shape(sample_shape));
  outlive_arguments(std::move(rows));
  outlive_arguments(std::move(samples));
  return result;
}

Tensor Categorical::log_prob(const Tensor& value) {
  validate_sample(value);
  Tensor places = ops::unsqueeze(ops::to_dtype(value, DType::int64), -1);
  const std::vector<Tensor> both = broadcast_all({places, logits()});
  places = ops::narrow(both[0], -1, 0, 1);
  return ops::squeeze(ops::gather(both[1], -1, places), -1);
}

Tensor Categorical::entropy() {
  const FloatLimits* const limits = find_float_limits(logits().dtype());
  Tensor finite = ops::clamp(logits(), limits == nullptr ? 0.0 : -limits->max, std::nullopt);
  Tensor products = ops::mul(finite, probs());
  const Tensor sums = ops::sum(products, Shape{-1}, false, std::nullopt);
  Tensor result = ops::neg(sums);
  outlive_arguments(std::move(finite));
  outlive_arguments(std::move(products));
  return result;
}

Tensor Categorical::enumerate_support(bool expand) {
  const Tensor values = arange(0, 1, events(), {DType::int64, given().device()});
  return spread_over_batch(values, batch_shape(), expand);
}

}  // namespace ohm::distributions
