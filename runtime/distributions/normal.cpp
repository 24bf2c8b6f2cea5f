#include "runtime/distributions/normal.h"

#include <cmath>
#include <numbers>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/distributions/temporaries.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/inplace_binary.h"
#include "runtime/ops/pointwise_math.h"
#include "runtime/ops/pointwise_unary.h"
#include "runtime/ops/power.h"
#include "runtime/ops/sampling.h"
#include "runtime/ops/special.h"
#include "runtime/ops/view.h"
#include "runtime/tensor/locals_of_call.h"

namespace ohm::distributions {
namespace {

using ops::TensorOrNumber;

const double kLogOfRootOfTwoPi = std::log(std::sqrt(2 * std::numbers::pi));

}  // namespace

Normal::Normal(const TensorOrNumber& loc, const TensorOrNumber& scale, bool validates)
    : Distribution(validates) {
  const std::vector<Tensor> parameters = broadcast_all({loc, scale});
  add_field("loc", parameters[0]);
  add_field("scale", parameters[1]);
  set_shapes(parameters[0].shape(), {});
  validate({{"loc", real()}, {"scale", positive()}});
}

Normal::Normal(const Normal& of, const Shape& batch_shape) : Distribution(of.validates()) {
  add_field("loc", ops::expand(of.loc(), batch_shape));
  add_field("scale", ops::expand(of.scale(), batch_shape));
  set_shapes(loc().shape(), {});
}

DistributionPtr Normal::expand(const Shape& batch_shape) const {
  return DistributionPtr(new Normal(*this, batch_shape));
}

Tensor Normal::variance() { return ops::pow(scale(), 2.0); }

Tensor Normal::sample(const Shape& sample_shape) {
  const Shape shape = extended_shape(sample_shape);
  const NoGradGuard no_grad;
  return ops::normal(ops::expand(loc(), shape), ops::expand(scale(), shape));
}

Tensor Normal::rsample(const Shape& sample_shape) {
  Tensor noise = empty(extended_shape(sample_shape), options_of(loc()));
  ops::normal_(noise, 0.0, 1.0);
  const Tensor scaled = ops::mul(noise, scale());
  Tensor result = ops::add(loc(), scaled);
  outlive_arguments(std::move(noise));
  return result;
}

Tensor Normal::log_prob(const Tensor& value) {
  validate_sample(value);
  Tensor variance = ops::pow(scale(), 2.0);
  Tensor log_scale = ops::log(scale());
  Tensor result = ops::sub(value, loc());
  result = ops::pow(result, 2.0);
  result = ops::neg(result);
  Tensor doubled = ops::mul(variance, 2);
  result = of_temporaries([](const Tensor& a, const Tensor& b) { return ops::div(a, b); },
                          std::move(result), std::move(doubled));
  result = ops::sub(result, log_scale);
  result = ops::sub(result, kLogOfRootOfTwoPi);
  outlive_arguments(std::move(variance));
  outlive_arguments(std::move(log_scale));
  return result;
}

Tensor Normal::entropy() {
  const Tensor log_scale = ops::log(scale());
  return ops::add(log_scale, 0.5 + 0.5 * std::log(2 * std::numbers::pi));
}

Tensor Normal::cdf(const Tensor& value) {
  validate_sample(value);
  Tensor distance = ops::sub(value, loc());
  Tensor inverse = ops::reciprocal(scale());
  Tensor result = of_temporaries([](const Tensor& a, const Tensor& b) { return ops::mul(a, b); },
                                 std::move(distance), std::move(inverse));
  result = ops::div(result, std::numbers::sqrt2);
  result = ops::erf(result);
  result = ops::add(result, 1);
  return ops::mul(result, 0.5);
}

Tensor Normal::icdf(const Tensor& value) {
  Tensor result = ops::mul(value, 2);
  result = ops::sub(result, 1);
  result = ops::erfinv(result);
  result = ops::mul(scale(), result);
  result = ops::mul(result, std::numbers::sqrt2);
  return ops::add(loc(), result);
}

}  // namespace ohm::distributions
