#include "runtime/distributions/exponential.h"

#include "runtime/arithmetic/factories.h"
#include "runtime/distributions/temporaries.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/overwritten.h"
#include "runtime/ops/pointwise_math.h"
#include "runtime/ops/pointwise_unary.h"
#include "runtime/ops/power.h"
#include "runtime/ops/view.h"

namespace ohm::distributions {

using ops::TensorOrNumber;

Exponential::Exponential(const TensorOrNumber& rate, bool validates) : Distribution(validates) {
  add_field("rate", broadcast_all({rate})[0]);
  set_shapes(this->rate().shape(), {});
  validate({{"rate", positive()}});
}

Exponential::Exponential(const Exponential& of, const Shape& batch_shape)
    : Distribution(of.validates()) {
  add_field("rate", ops::expand(of.rate(), batch_shape));
  set_shapes(rate().shape(), {});
}

DistributionPtr Exponential::expand(const Shape& batch_shape) const {
  return DistributionPtr(new Exponential(*this, batch_shape));
}

Tensor Exponential::mean() { return ops::reciprocal(rate()); }

Tensor Exponential::mode() { return zeros_like(rate()); }

Tensor Exponential::variance() { return ops::pow(rate(), -2.0); }

Tensor Exponential::rsample(const Shape& sample_shape) {
  const Tensor draws = empty(extended_shape(sample_shape), options_of(rate()));
  ops::exponential_(draws, 1.0);
  return ops::div(draws, rate());
}

Tensor Exponential::log_prob(const Tensor& value) {
  validate_sample(value);
  Tensor logarithm = ops::log(rate());
  Tensor scaled = ops::mul(rate(), value);
  return of_temporaries([](const Tensor& a, const Tensor& b) { return ops::sub(a, b); },
                        std::move(logarithm), std::move(scaled));
}

Tensor Exponential::entropy() {
  const Tensor logarithm = ops::log(rate());
  return ops::rsub(logarithm, 1.0);
}

Tensor Exponential::cdf(const Tensor& value) {
  validate_sample(value);
  Tensor result = ops::neg(rate());
  result = ops::mul(result, value);
  result = ops::exp(result);
  return ops::rsub(result, 1);
}

Tensor Exponential::icdf(const Tensor& value) {
  Tensor result = ops::neg(value);
  result = ops::log1p(result);
  result = ops::neg(result);
  return ops::div(result, rate());
}

}  // namespace ohm::distributions
