#include "runtime/distributions/divergence.h"

#include <fmt/format.h>

#include <limits>
#include <stdexcept>

#include "runtime/distributions/bernoulli.h"
#include "runtime/distributions/categorical.h"
#include "runtime/distributions/dirichlet.h"
#include "runtime/distributions/exponential.h"
#include "runtime/distributions/gamma.h"
#include "runtime/distributions/independent.h"
#include "runtime/distributions/laplace.h"
#include "runtime/distributions/logits.h"
#include "runtime/distributions/normal.h"
#include "runtime/distributions/one_hot_categorical.h"
#include "runtime/distributions/temporaries.h"
#include "runtime/distributions/uniform.h"
#include "runtime/ops/activation.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/comparison.h"
#include "runtime/ops/pointwise_unary.h"
#include "runtime/ops/power.h"
#include "runtime/ops/reduction.h"
#include "runtime/ops/special.h"
#include "runtime/ops/view.h"
#include "runtime/ops/whole_numbers.h"

namespace ohm::distributions {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor difference(Tensor a, Tensor b) {
  return of_temporaries([](const Tensor& x, const Tensor& y) { return ops::sub(x, y); },
                        std::move(a), std::move(b));
}

Tensor divergence_of(Normal& p, Normal& q) {
  Tensor ratio = ops::div(p.scale(), q.scale());
  ratio = ops::pow(ratio, 2.0);
  Tensor distance = ops::sub(p.loc(), q.loc());
  distance = ops::div(distance, q.scale());
  distance = ops::pow(distance, 2.0);
  Tensor result = ops::add(ratio, distance);
  result = ops::sub(result, 1);
  Tensor logarithm = ops::log(ratio);
  result = difference(std::move(result), std::move(logarithm));
  result = ops::mul(result, 0.5);
  ratio = Tensor();
  distance = Tensor();
  return result;
}

Tensor divergence_of(Categorical& p, Categorical& q) {
  const Tensor weights = p.probs();
  const Tensor first = p.logits();
  Tensor terms = ops::sub(first, q.logits());
  terms = ops::mul(weights, terms);
  const auto assign = [&](const Tensor& probs, double value) {
    Tensor mask = ops::eq(probs, 0);
    mask = ops::expand(mask, terms.shape());
    assign_where(terms, mask, value);
  };
  assign(q.probs(), kInfinity);
  assign(p.probs(), 0.0);
  return ops::sum(terms, Shape{-1}, false, std::nullopt);
}

// softplus of the logits, or of their negatives.
enum class Sign : bool { as_it_is, negative };

Tensor bent(const Tensor& logits, Sign sign) {
  const Tensor argument = sign == Sign::negative ? ops::neg(logits) : logits;
  return ops::softplus(argument, 1.0, 20.0);
}

// Logits are computed where they are first needed.
Tensor bent_difference(Bernoulli& q, Bernoulli& p, Sign sign) {
  Tensor of_q = bent(q.logits(), sign);
  Tensor of_p = bent(p.logits(), sign);
  return difference(std::move(of_q), std::move(of_p));
}

void assign_where_equal(const Tensor& terms, const Tensor& probs, double number, double value) {
  const Tensor mask = ops::eq(probs, number);
  assign_where(terms, mask, value);
}

Tensor divergence_of(Bernoulli& p, Bernoulli& q) {
  const Tensor ones = p.probs();
  Tensor of_ones = bent_difference(q, p, Sign::negative);
  of_ones = ops::mul(ones, of_ones);
  assign_where_equal(of_ones, q.probs(), 0, kInfinity);
  assign_where_equal(of_ones, ones, 0, 0.0);
  Tensor zeros = ops::rsub(ones, 1);
  Tensor of_zeros = bent_difference(q, p, Sign::as_it_is);
  of_zeros = of_temporaries([](const Tensor& a, const Tensor& b) { return ops::mul(a, b); },
                            std::move(zeros), std::move(of_zeros));
  assign_where_equal(of_zeros, q.probs(), 1, kInfinity);
  assign_where_equal(of_zeros, ones, 1, 0.0);
  return of_temporaries([](const Tensor& a, const Tensor& b) { return ops::add(a, b); },
                        std::move(of_ones), std::move(of_zeros));
}

Tensor divergence_of(Uniform& p, Uniform& q) {
  Tensor others = ops::sub(q.high(), q.low());
  Tensor own = ops::sub(p.high(), p.low());
  Tensor result = of_temporaries([](const Tensor& a, const Tensor& b) { return ops::div(a, b); },
                                 std::move(others), std::move(own));
  result = ops::log(result);
  Tensor starts_late = ops::gt(q.low(), p.low());
  Tensor ends_early = ops::lt(q.high(), p.high());
  const Tensor is_outside =
      of_temporaries([](const Tensor& a, const Tensor& b) { return ops::bitwise_or(a, b); },
                     std::move(starts_late), std::move(ends_early));
  assign_where(result, is_outside, kInfinity);
  return result;
}

Tensor divergence_of(Exponential& p, Exponential& q) {
  Tensor ratio = ops::div(q.rate(), p.rate());
  Tensor logarithm = ops::log(ratio);
  logarithm = ops::neg(logarithm);
  Tensor result = ops::add(logarithm, ratio);
  result = ops::sub(result, 1);
  ratio = Tensor();
  logarithm = Tensor();
  return result;
}

Tensor divergence_of(Laplace& p, Laplace& q) {
  Tensor ratio = ops::div(p.scale(), q.scale());
  Tensor distance = ops::sub(p.loc(), q.loc());
  distance = ops::abs(distance);
  Tensor logarithm = ops::log(ratio);
  logarithm = ops::neg(logarithm);
  Tensor share = ops::div(distance, q.scale());
  Tensor rest = ops::neg(distance);
  rest = ops::div(rest, p.scale());
  rest = ops::exp(rest);
  rest = ops::mul(ratio, rest);
  Tensor result = ops::add(logarithm, share);
  result = ops::add(result, rest);
  result = ops::sub(result, 1);
  for (Tensor* const local : {&ratio, &distance, &logarithm, &share, &rest}) *local = Tensor();
  return result;
}

Tensor total_of(Tensor a, Tensor b) {
  return of_temporaries([](const Tensor& x, const Tensor& y) { return ops::add(x, y); },
                        std::move(a), std::move(b));
}

// (a − b) · digamma(of)
Tensor weighted_difference(const Tensor& a, const Tensor& b, const Tensor& of) {
  Tensor weight = ops::sub(a, b);
  Tensor slope = ops::digamma(of);
  return of_temporaries([](const Tensor& x, const Tensor& y) { return ops::mul(x, y); },
                        std::move(weight), std::move(slope));
}

// lgamma(a) − lgamma(b)
Tensor difference_of_lgammas(const Tensor& a, const Tensor& b) {
  Tensor first = ops::lgamma(a);
  Tensor second = ops::lgamma(b);
  return difference(std::move(first), std::move(second));
}

Tensor divergence_of(Gamma& p, Gamma& q) {
  Tensor ratio = ops::div(p.rate(), q.rate());
  ratio = ops::log(ratio);
  ratio = ops::mul(q.concentration(), ratio);
  Tensor norm = difference_of_lgammas(q.concentration(), p.concentration());
  Tensor shapes = weighted_difference(p.concentration(), q.concentration(), p.concentration());
  Tensor rates = ops::sub(q.rate(), p.rate());
  Tensor mean = ops::div(p.concentration(), p.rate());
  rates = of_temporaries([](const Tensor& x, const Tensor& y) { return ops::mul(x, y); },
                         std::move(rates), std::move(mean));
  Tensor result = ops::add(ratio, norm);
  result = ops::add(result, shapes);
  result = ops::add(result, rates);
  for (Tensor* const local : {&ratio, &norm, &shapes, &rates}) *local = Tensor();
  return result;
}

Tensor divergence_of(Dirichlet& p, Dirichlet& q) {
  const auto row_sum = [](const Tensor& rows) {
    return ops::sum(rows, Shape{-1}, false, std::nullopt);
  };
  Tensor sum_of_p = row_sum(p.concentration());
  Tensor sum_of_q = row_sum(q.concentration());
  Tensor sums = difference_of_lgammas(sum_of_p, sum_of_q);
  Tensor norm = difference_of_lgammas(p.concentration(), q.concentration());
  norm = row_sum(norm);
  Tensor weights = ops::sub(p.concentration(), q.concentration());
  Tensor slopes = ops::digamma(p.concentration());
  Tensor slope_of_sum = ops::unsqueeze(ops::digamma(sum_of_p), -1);
  slopes = difference(std::move(slopes), std::move(slope_of_sum));
  Tensor result = ops::sub(sums, norm);
  Tensor rest = ops::mul(weights, slopes);
  rest = row_sum(rest);
  result = total_of(std::move(result), std::move(rest));
  for (Tensor* const local : {&sum_of_p, &sum_of_q, &sums, &norm, &weights, &slopes}) {
    *local = Tensor();
  }
  return result;
}

constexpr std::string_view kConcentrations[] = {"concentration1", "concentration0"};

// Each asks for a view of its own, in Python's order: backward goes through them in its reverse.

Tensor total_concentration(Beta& of) {
  const Tensor first = of.concentration1();
  return ops::add(first, of.concentration0());
}

Tensor sum_of_lgammas(Beta& of, const Tensor& sum) {
  Tensor first = ops::lgamma(of.concentration1());
  Tensor second = ops::lgamma(of.concentration0());
  Tensor result = total_of(std::move(first), std::move(second));
  Tensor third = ops::lgamma(sum);
  return total_of(std::move(result), std::move(third));
}

Tensor weighted_difference(Beta& p, Beta& q, std::string_view name) {
  const Tensor own = p.parameter(name);
  Tensor weight = ops::sub(own, q.parameter(name));
  Tensor slope = ops::digamma(p.parameter(name));
  return of_temporaries([](const Tensor& x, const Tensor& y) { return ops::mul(x, y); },
                        std::move(weight), std::move(slope));
}

Tensor divergence_of(Beta& p, Beta& q) {
  Tensor sum_of_p = total_concentration(p);
  Tensor sum_of_q = total_concentration(q);
  Tensor first = sum_of_lgammas(q, sum_of_p);
  Tensor second = sum_of_lgammas(p, sum_of_q);
  Tensor ones = weighted_difference(p, q, kConcentrations[0]);
  Tensor zeros = weighted_difference(p, q, kConcentrations[1]);
  Tensor sums = weighted_difference(sum_of_q, sum_of_p, sum_of_p);
  Tensor result = ops::sub(first, second);
  for (const Tensor* const term : {&ones, &zeros, &sums}) result = ops::add(result, *term);
  for (Tensor* const local : {&sum_of_p, &sum_of_q, &first, &second, &ones, &zeros, &sums}) {
    *local = Tensor();
  }
  return result;
}

Tensor divergence_of(OneHotCategorical& p, OneHotCategorical& q) {
  return divergence_of(*p.numbers(), *q.numbers());
}

Tensor divergence_of(Independent& p, Independent& q) {
  if (p.dims() != q.dims()) {
    throw std::invalid_argument(
        "[kl_divergence] the distributions have different reinterpreted_batch_ndims");
  }
  const Tensor each = kl_divergence(*p.base(), *q.base());
  return sum_rightmost(each, p.dims());
}

// Whether both are a T; then `result` is their divergence.
template <class T>
bool try_kind(Distribution& p, Distribution& q, Tensor& result) {
  auto* const first = dynamic_cast<T*>(&p);
  auto* const second = dynamic_cast<T*>(&q);
  if (first == nullptr || second == nullptr) return false;
  result = divergence_of(*first, *second);
  return true;
}

}  // namespace

Tensor kl_divergence(Distribution& p, Distribution& q) {
  Tensor result;
  if (try_kind<Normal>(p, q, result) || try_kind<Categorical>(p, q, result) ||
      try_kind<Bernoulli>(p, q, result) || try_kind<Uniform>(p, q, result) ||
      try_kind<Exponential>(p, q, result) || try_kind<Laplace>(p, q, result) ||
      try_kind<Gamma>(p, q, result) || try_kind<Dirichlet>(p, q, result) ||
      try_kind<Beta>(p, q, result) || try_kind<OneHotCategorical>(p, q, result) ||
      try_kind<Independent>(p, q, result)) {
    return result;
  }
  throw std::invalid_argument(
      fmt::format("[kl_divergence] No KL(p || q) is implemented for p type {} and q type {}",
                  p.type_name(), q.type_name()));
}

}  // namespace ohm::distributions
