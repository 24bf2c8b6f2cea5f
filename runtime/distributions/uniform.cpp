#include "runtime/distributions/uniform.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "runtime/arithmetic/factories.h"
#include "runtime/distributions/temporaries.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/clamp.h"
#include "runtime/ops/comparison.h"
#include "runtime/ops/convert.h"
#include "runtime/ops/pointwise_unary.h"
#include "runtime/ops/power.h"
#include "runtime/ops/reduction.h"
#include "runtime/ops/view.h"
#include "runtime/tensor/locals_of_call.h"

namespace ohm::distributions {

using ops::TensorOrNumber;

Uniform::Uniform(const TensorOrNumber& low, const TensorOrNumber& high, bool validates)
    : Distribution(validates) {
  const std::vector<Tensor> bounds = broadcast_all({low, high});
  add_field("low", bounds[0]);
  add_field("high", bounds[1]);
  set_shapes(bounds[0].shape(), {});
  require_order();
}

Uniform::Uniform(const Uniform& of, const Shape& batch_shape) : Distribution(of.validates()) {
  add_field("low", ops::expand(of.low(), batch_shape));
  add_field("high", ops::expand(of.high(), batch_shape));
  set_shapes(low().shape(), {});
}

void Uniform::require_order() const {
  if (!validates()) return;
  Tensor valid = ops::lt(low(), high());
  valid = ops::all(valid);
  if (is_true(valid)) return;
  throw std::invalid_argument("[Uniform] Uniform is not defined when low>= high");
}

DistributionPtr Uniform::expand(const Shape& batch_shape) const {
  return DistributionPtr(new Uniform(*this, batch_shape));
}

Tensor Uniform::mean() {
  const Tensor sum = ops::add(high(), low());
  return ops::div(sum, 2);
}

Tensor Uniform::mode() { return ops::mul(high(), std::numeric_limits<double>::quiet_NaN()); }

Tensor Uniform::stddev() {
  const Tensor width = ops::sub(high(), low());
  return ops::div(width, std::sqrt(12.0));
}

Tensor Uniform::variance() {
  Tensor result = ops::sub(high(), low());
  result = ops::pow(result, 2.0);
  return ops::div(result, 12);
}

Tensor Uniform::rsample(const Shape& sample_shape) {
  if (!is_floating(low().dtype())) {
    throw std::invalid_argument("[Uniform] samples are of a floating dtype, as low and high");
  }
  Tensor share = rand(extended_shape(sample_shape), options_of(low()));
  Tensor result = ops::sub(high(), low());
  result = ops::mul(share, result);
  result = ops::add(low(), result);
  outlive_arguments(std::move(share));
  return result;
}

Tensor Uniform::log_prob(const Tensor& value) {
  validate_sample(value);
  Tensor is_above = ops::le(low(), value);
  is_above = ops::to_dtype(is_above, low().dtype());
  Tensor is_below = ops::gt(high(), value);
  is_below = ops::to_dtype(is_below, low().dtype());
  Tensor density = ops::mul(is_above, is_below);
  density = ops::log(density);
  Tensor width = entropy();
  Tensor result = of_temporaries([](const Tensor& a, const Tensor& b) { return ops::sub(a, b); },
                                 std::move(density), std::move(width));
  outlive_arguments(std::move(is_above));
  outlive_arguments(std::move(is_below));
  return result;
}

Tensor Uniform::entropy() {
  const Tensor width = ops::sub(high(), low());
  return ops::log(width);
}

Tensor Uniform::cdf(const Tensor& value) {
  validate_sample(value);
  Tensor distance = ops::sub(value, low());
  Tensor width = ops::sub(high(), low());
  Tensor result = of_temporaries([](const Tensor& a, const Tensor& b) { return ops::div(a, b); },
                                 std::move(distance), std::move(width));
  Tensor clamped = ops::clamp(result, 0.0, 1.0);
  outlive_arguments(std::move(result));
  return clamped;
}

Tensor Uniform::icdf(const Tensor& value) {
  Tensor result = ops::sub(high(), low());
  result = ops::mul(value, result);
  return ops::add(result, low());
}

}  // namespace ohm::distributions
