#include "runtime/distributions/dirichlet.h"

#include <stdexcept>
#include <utility>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/distributions/gamma_draws.h"
#include "runtime/distributions/temporaries.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/concat.h"
#include "runtime/ops/pointwise_math.h"
#include "runtime/ops/power.h"
#include "runtime/ops/reduction.h"
#include "runtime/ops/slice.h"
#include "runtime/ops/special.h"
#include "runtime/ops/view.h"

namespace ohm::distributions {
namespace {

using ops::TensorOrNumber;

Tensor sum_of_both(Tensor a, Tensor b) {
  return of_temporaries([](const Tensor& x, const Tensor& y) { return ops::add(x, y); },
                        std::move(a), std::move(b));
}
Tensor difference_of_both(Tensor a, Tensor b) {
  return of_temporaries([](const Tensor& x, const Tensor& y) { return ops::sub(x, y); },
                        std::move(a), std::move(b));
}
Tensor product_of_both(Tensor a, Tensor b) {
  return of_temporaries([](const Tensor& x, const Tensor& y) { return ops::mul(x, y); },
                        std::move(a), std::move(b));
}
Tensor quotient_of_both(Tensor a, Tensor b) {
  return of_temporaries([](const Tensor& x, const Tensor& y) { return ops::div(x, y); },
                        std::move(a), std::move(b));
}

Tensor row_sums(const Tensor& rows, bool keepdim) {
  return ops::sum(rows, Shape{-1}, keepdim, std::nullopt);
}

Shape batch_of(const Shape& shape) {
  if (shape.empty()) {
    throw std::invalid_argument(
        "[Dirichlet] `concentration` parameter must be at least one-dimensional.");
  }
  Shape batch = shape;
  batch.erase(batch.dims() - 1);
  return batch;
}

// total² · (total + 1)
Tensor scale_of_variance(const Tensor& total) {
  Tensor squared = ops::pow(total, 2.0);
  Tensor next = ops::add(total, 1);
  return product_of_both(std::move(squared), std::move(next));
}

bool are_numbers(const TensorOrNumber& a, const TensorOrNumber& b) {
  return std::holds_alternative<ops::Number>(a) && std::holds_alternative<ops::Number>(b);
}

// Of two numbers, on the host.
Tensor pair_of(const TensorOrNumber& a, const TensorOrNumber& b) {
  return from_values({std::get<ops::Number>(a).value, std::get<ops::Number>(b).value}, {2},
                     {DType::float32, Device::cpu()});
}

}  // namespace

// ---- Dirichlet ----------------------------------------------------------------------------------

Dirichlet::Dirichlet(const Tensor& concentration, bool validates) : Distribution(validates) {
  set_shapes(batch_of(concentration.shape()), {concentration.shape().back()});
  add_field("concentration", concentration);
  validate({{"concentration", independent(positive(), 1)}});
}

Dirichlet::Dirichlet(const Dirichlet& of, const Shape& batch_shape) : Distribution(of.validates()) {
  add_field("concentration",
            ops::expand(of.concentration(), joined(batch_shape, of.event_shape())));
  set_shapes(batch_shape, of.event_shape());
}

DistributionPtr Dirichlet::expand(const Shape& batch_shape) const {
  return DistributionPtr(new Dirichlet(*this, batch_shape));
}

Tensor Dirichlet::mean() {
  const Tensor total = row_sums(concentration(), true);
  return ops::div(concentration(), total);
}

Tensor Dirichlet::variance() {
  const Tensor total = row_sums(concentration(), true);
  Tensor result = ops::sub(total, concentration());
  result = ops::mul(concentration(), result);
  Tensor scale = scale_of_variance(total);
  return quotient_of_both(std::move(result), std::move(scale));
}

Tensor Dirichlet::rsample(const Shape& sample_shape) {
  if (!is_floating(concentration().dtype())) {
    throw std::invalid_argument("[Dirichlet] samples are of a floating dtype, as concentration");
  }
  return standard_dirichlet(ops::expand(concentration(), extended_shape(sample_shape)));
}

Tensor Dirichlet::log_prob(const Tensor& value) {
  validate_sample(value);
  Tensor result = ops::sub(concentration(), 1.0);
  result = ops::xlogy(result, value);
  result = row_sums(result, false);
  Tensor term = row_sums(concentration(), false);
  term = ops::lgamma(term);
  result = sum_of_both(std::move(result), std::move(term));
  term = ops::lgamma(concentration());
  term = row_sums(term, false);
  return difference_of_both(std::move(result), std::move(term));
}

Tensor Dirichlet::entropy() {
  const auto count = static_cast<double>(event_shape().back());
  Tensor total = row_sums(concentration(), false);
  Tensor result = ops::lgamma(concentration());
  result = row_sums(result, false);
  Tensor term = ops::lgamma(total);
  result = difference_of_both(std::move(result), std::move(term));
  term = ops::rsub(total, count);
  Tensor slope = ops::digamma(total);
  term = product_of_both(std::move(term), std::move(slope));
  result = difference_of_both(std::move(result), std::move(term));
  term = ops::sub(concentration(), 1.0);
  slope = ops::digamma(concentration());
  term = product_of_both(std::move(term), std::move(slope));
  term = row_sums(term, false);
  result = difference_of_both(std::move(result), std::move(term));
  outlive_arguments(std::move(total));
  return result;
}

// ---- Beta ---------------------------------------------------------------------------------------

// What is broadcast lives in Python's variables, until its constructor is done.
Beta::Beta(const TensorOrNumber& concentration1, const TensorOrNumber& concentration0,
           bool validates)
    : Distribution(validates) {
  std::vector<Tensor> separate;
  const bool is_pair = are_numbers(concentration1, concentration0);
  if (!is_pair) separate = broadcast_all({concentration1, concentration0});
  both_ = std::make_shared<Dirichlet>(
      is_pair ? pair_of(concentration1, concentration0) : ops::stack(separate, -1), validates);
  set_shapes(both_->batch_shape(), {});
  validate_values({{"concentration1", positive()}, {"concentration0", positive()}},
                  [this](std::string_view name) { return parameter(name); });
}

Beta::Beta(std::shared_ptr<Dirichlet> both, bool validates)
    : Distribution(validates), both_(std::move(both)) {
  set_shapes(both_->batch_shape(), {});
}

DistributionPtr Beta::expand(const Shape& batch_shape) const {
  auto both = std::dynamic_pointer_cast<Dirichlet>(both_->expand(batch_shape));
  return DistributionPtr(new Beta(std::move(both), validates()));
}

Tensor Beta::parameter(std::string_view name) {
  if (name != "concentration1" && name != "concentration0") return {};
  return ops::select(both_->concentration(), -1, name == "concentration1" ? 0 : 1);
}

// Views come in Python's order: backward goes through them in its reverse.
Tensor Beta::sum_of_concentrations() {
  const Tensor first = concentration1();
  return ops::add(first, concentration0());
}

Tensor Beta::mean() {
  const Tensor first = concentration1();
  const Tensor total = sum_of_concentrations();
  return ops::div(first, total);
}

Tensor Beta::variance() {
  const Tensor total = sum_of_concentrations();
  const Tensor first = concentration1();
  Tensor result = ops::mul(first, concentration0());
  Tensor scale = scale_of_variance(total);
  return quotient_of_both(std::move(result), std::move(scale));
}

Tensor Beta::rsample(const Shape& sample_shape) {
  const Tensor both = of_inner_call([&] { return both_->rsample(sample_shape); });
  return ops::select(both, -1, 0);
}

Tensor Beta::log_prob(const Tensor& value) {
  validate_sample(value);
  Tensor pairs;
  {
    const Tensor others = ops::rsub(value, 1.0);
    pairs = ops::stack({value, others}, -1);
  }
  Tensor result = of_inner_call([&] { return both_->log_prob(pairs); });
  outlive_arguments(std::move(pairs));
  return result;
}

Tensor Beta::entropy() {
  return of_inner_call([&] { return both_->entropy(); });
}

}  // namespace ohm::distributions
