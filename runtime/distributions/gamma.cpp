#include "runtime/distributions/gamma.h"

#include <stdexcept>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/variable.h"
#include "runtime/base/float_limits.h"
#include "runtime/distributions/gamma_draws.h"
#include "runtime/distributions/temporaries.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/clamp.h"
#include "runtime/ops/convert.h"
#include "runtime/ops/pointwise_math.h"
#include "runtime/ops/pointwise_unary.h"
#include "runtime/ops/power.h"
#include "runtime/ops/special.h"
#include "runtime/ops/view.h"

namespace ohm::distributions {

using ops::TensorOrNumber;

Gamma::Gamma(const TensorOrNumber& concentration, const TensorOrNumber& rate, bool validates)
    : Distribution(validates) {
  const std::vector<Tensor> parameters = broadcast_all({concentration, rate});
  add_field("concentration", parameters[0]);
  add_field("rate", parameters[1]);
  set_shapes(parameters[0].shape(), {});
  validate({{"concentration", positive()}, {"rate", positive()}});
}

Gamma::Gamma(const Gamma& of, const Shape& batch_shape) : Distribution(of.validates()) {
  add_field("concentration", ops::expand(of.concentration(), batch_shape));
  add_field("rate", ops::expand(of.rate(), batch_shape));
  set_shapes(concentration().shape(), {});
}

DistributionPtr Gamma::expand(const Shape& batch_shape) const {
  return DistributionPtr(new Gamma(*this, batch_shape));
}

Tensor Gamma::mean() { return ops::div(concentration(), rate()); }

Tensor Gamma::mode() {
  Tensor result = ops::sub(concentration(), 1);
  result = ops::div(result, rate());
  return ops::clamp(result, 0.0, std::nullopt);
}

Tensor Gamma::variance() {
  const Tensor squared = ops::pow(rate(), 2.0);
  return ops::div(concentration(), squared);
}

Tensor Gamma::rsample(const Shape& sample_shape) {
  const FloatLimits* const limits = find_float_limits(concentration().dtype());
  if (limits == nullptr) {
    throw std::invalid_argument("[Gamma] samples are of a floating dtype, as its parameters");
  }
  const Shape shape = extended_shape(sample_shape);
  const Tensor draws = standard_gamma(ops::expand(concentration(), shape));
  Tensor result = ops::div(draws, ops::expand(rate(), shape));
  ops::clamp_(detach(result), limits->tiny, std::nullopt);
  return result;
}

Tensor Gamma::log_prob(const Tensor& given) {
  Tensor value = ops::to(given, rate().device(), rate().dtype());
  validate_sample(value);
  const auto sum = [](const Tensor& a, const Tensor& b) { return ops::add(a, b); };
  const auto difference = [](const Tensor& a, const Tensor& b) { return ops::sub(a, b); };
  Tensor result = ops::xlogy(concentration(), rate());
  Tensor term = ops::sub(concentration(), 1);
  term = ops::xlogy(term, value);
  result = of_temporaries(sum, std::move(result), std::move(term));
  term = ops::mul(rate(), value);
  result = of_temporaries(difference, std::move(result), std::move(term));
  term = ops::lgamma(concentration());
  result = of_temporaries(difference, std::move(result), std::move(term));
  outlive_arguments(std::move(value));
  return result;
}

Tensor Gamma::entropy() {
  const auto sum = [](const Tensor& a, const Tensor& b) { return ops::add(a, b); };
  Tensor result = ops::log(rate());
  result = ops::sub(concentration(), result);
  Tensor term = ops::lgamma(concentration());
  result = of_temporaries(sum, std::move(result), std::move(term));
  term = ops::rsub(concentration(), 1.0);
  Tensor slope = ops::digamma(concentration());
  term = of_temporaries([](const Tensor& a, const Tensor& b) { return ops::mul(a, b); },
                        std::move(term), std::move(slope));
  return of_temporaries(sum, std::move(result), std::move(term));
}

}  // namespace ohm::distributions
