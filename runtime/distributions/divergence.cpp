#include "runtime/distributions/divergence.h"

#include <fmt/format.h>

#include <limits>
#include <stdexcept>

#include "runtime/distributions/bernoulli.h"
#include "runtime/distributions/categorical.h"
#include "runtime/distributions/independent.h"
#include "runtime/distributions/logits.h"
#include "runtime/distributions/normal.h"
#include "runtime/distributions/temporaries.h"
#include "runtime/distributions/uniform.h"
#include "runtime/ops/activation.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/comparison.h"
#include "runtime/ops/pointwise_unary.h"
#include "runtime/ops/power.h"
#include "runtime/ops/reduction.h"
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
      try_kind<Independent>(p, q, result)) {
    return result;
  }
  throw std::invalid_argument(
      fmt::format("[kl_divergence] No KL(p || q) is implemented for p type {} and q type {}",
                  p.type_name(), q.type_name()));
}

}  // namespace ohm::distributions
