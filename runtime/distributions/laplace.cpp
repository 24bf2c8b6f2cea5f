#include "runtime/distributions/laplace.h"

#include <numbers>
#include <stdexcept>

#include "runtime/arithmetic/factories.h"
#include "runtime/base/float_limits.h"
#include "runtime/distributions/temporaries.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/inplace_binary.h"
#include "runtime/ops/pointwise_math.h"
#include "runtime/ops/pointwise_unary.h"
#include "runtime/ops/power.h"
#include "runtime/ops/sign.h"
#include "runtime/ops/view.h"

namespace ohm::distributions {

using ops::TensorOrNumber;

namespace {

Tensor product_of_temporaries(Tensor a, Tensor b) {
  return of_temporaries([](const Tensor& x, const Tensor& y) { return ops::mul(x, y); },
                        std::move(a), std::move(b));
}

}  // namespace

Laplace::Laplace(const TensorOrNumber& loc, const TensorOrNumber& scale, bool validates)
    : Distribution(validates) {
  const std::vector<Tensor> parameters = broadcast_all({loc, scale});
  add_field("loc", parameters[0]);
  add_field("scale", parameters[1]);
  set_shapes(parameters[0].shape(), {});
  validate({{"loc", real()}, {"scale", positive()}});
}

Laplace::Laplace(const Laplace& of, const Shape& batch_shape) : Distribution(of.validates()) {
  add_field("loc", ops::expand(of.loc(), batch_shape));
  add_field("scale", ops::expand(of.scale(), batch_shape));
  set_shapes(loc().shape(), {});
}

DistributionPtr Laplace::expand(const Shape& batch_shape) const {
  return DistributionPtr(new Laplace(*this, batch_shape));
}

Tensor Laplace::variance() {
  const Tensor squared = ops::pow(scale(), 2.0);
  return ops::mul(squared, 2);
}

Tensor Laplace::stddev() { return ops::mul(scale(), std::numbers::sqrt2); }

Tensor Laplace::rsample(const Shape& sample_shape) {
  const FloatLimits* const limits = find_float_limits(loc().dtype());
  if (limits == nullptr) {
    throw std::invalid_argument("[Laplace] samples are of a floating dtype, as loc and scale");
  }
  Tensor draws = empty(extended_shape(sample_shape), options_of(loc()));
  ops::uniform_(draws, limits->eps - 1, 1.0);
  Tensor side = ops::sign(draws);
  side = ops::mul(scale(), side);
  Tensor distance = ops::abs(draws);
  distance = ops::neg(distance);
  distance = ops::log1p(distance);
  const Tensor offset = product_of_temporaries(std::move(side), std::move(distance));
  Tensor result = ops::sub(loc(), offset);
  outlive_arguments(std::move(draws));
  return result;
}

Tensor Laplace::log_prob(const Tensor& value) {
  validate_sample(value);
  Tensor norm = ops::mul(scale(), 2);
  norm = ops::log(norm);
  norm = ops::neg(norm);
  Tensor distance = ops::sub(value, loc());
  distance = ops::abs(distance);
  distance = ops::div(distance, scale());
  return of_temporaries([](const Tensor& a, const Tensor& b) { return ops::sub(a, b); },
                        std::move(norm), std::move(distance));
}

Tensor Laplace::entropy() {
  Tensor result = ops::mul(scale(), 2);
  result = ops::log(result);
  return ops::add(result, 1);
}

Tensor Laplace::cdf(const Tensor& value) {
  validate_sample(value);
  Tensor side = ops::sub(value, loc());
  side = ops::sign(side);
  side = ops::mul(side, 0.5);
  Tensor distance = ops::sub(value, loc());
  distance = ops::abs(distance);
  distance = ops::neg(distance);
  distance = ops::div(distance, scale());
  distance = ops::expm1(distance);
  const Tensor share = product_of_temporaries(std::move(side), std::move(distance));
  return ops::rsub(share, 0.5);
}

Tensor Laplace::icdf(const Tensor& value) {
  Tensor term = ops::sub(value, 0.5);
  Tensor side = ops::sign(term);
  side = ops::mul(scale(), side);
  Tensor distance = ops::abs(term);
  distance = ops::mul(distance, -2);
  distance = ops::log1p(distance);
  const Tensor offset = product_of_temporaries(std::move(side), std::move(distance));
  Tensor result = ops::sub(loc(), offset);
  outlive_arguments(std::move(term));
  return result;
}

}  // namespace ohm::distributions
