#include "runtime/distributions/constraint.h"

#include <fmt/format.h>

#include "runtime/distributions/temporaries.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/comparison.h"
#include "runtime/ops/pointwise_unary.h"
#include "runtime/ops/reduction.h"
#include "runtime/ops/view.h"
#include "runtime/ops/whole_numbers.h"

namespace ohm::distributions {
namespace {

Tensor both(Tensor a, Tensor b) {
  return of_temporaries([](const Tensor& x, const Tensor& y) { return ops::bitwise_and(x, y); },
                        std::move(a), std::move(b));
}

Tensor is_zero_or_one(const Tensor& value) {
  Tensor is_zero = ops::eq(value, 0);
  Tensor is_one = ops::eq(value, 1);
  return of_temporaries([](const Tensor& a, const Tensor& b) { return ops::bitwise_or(a, b); },
                        std::move(is_zero), std::move(is_one));
}

// How far rows may be from a sum of 1.
constexpr double kSumTolerance = 1e-6;

Tensor is_near_one(const Tensor& value) {
  Tensor result = ops::sum(value, Shape{-1}, false, std::nullopt);
  result = ops::sub(result, 1);
  result = ops::abs(result);
  result = ops::lt(result, kSumTolerance);
  return result;
}

// Over the last `dims` dimensions.
Tensor all_of_last(Tensor result, int dims) {
  Shape shape = result.shape();
  for (int i = 0; i < dims; ++i) shape.erase(shape.dims() - 1);
  shape.push_back(-1);
  result = ops::reshape(result, shape);
  result = ops::all(result, Shape{-1}, false);
  return result;
}

}  // namespace

Constraint real() {
  return {[](const Tensor& value) { return ops::eq(value, value); }, "Real()"};
}

Constraint real_vector() { return independent(real(), 1); }

Constraint positive() {
  return {[](const Tensor& value) { return ops::gt(value, 0.0); }, "GreaterThan(lower_bound=0.0)"};
}

Constraint nonnegative() {
  return {[](const Tensor& value) { return ops::ge(value, 0.0); },
          "GreaterThanEq(lower_bound=0.0)"};
}

Constraint unit_interval() {
  return {[](const Tensor& value) {
            Tensor is_high_enough = ops::ge(value, 0.0);
            Tensor is_low_enough = ops::le(value, 1.0);
            return both(std::move(is_high_enough), std::move(is_low_enough));
          },
          "Interval(lower_bound=0.0, upper_bound=1.0)"};
}

Constraint boolean() { return {&is_zero_or_one, "Boolean()"}; }

Constraint simplex() {
  return {[](const Tensor& value) {
            Tensor are_weights = ops::ge(value, 0);
            are_weights = ops::all(are_weights, Shape{-1}, false);
            Tensor have_sum = is_near_one(value);
            return both(std::move(are_weights), std::move(have_sum));
          },
          "Simplex()"};
}

Constraint one_hot() {
  return {[](const Tensor& value) {
            Tensor is_boolean = is_zero_or_one(value);
            Tensor sums = ops::sum(value, Shape{-1}, false, std::nullopt);
            Tensor is_normalized = ops::eq(sums, 1);
            sums = Tensor();
            Tensor are_boolean = ops::all(is_boolean, Shape{-1}, false);
            Tensor result = both(std::move(are_boolean), is_normalized);
            is_boolean = Tensor();
            return result;
          },
          "OneHot()"};
}

Constraint integer_interval(std::int64_t lowest, std::int64_t highest) {
  return {[lowest, highest](const Tensor& value) {
            Tensor result = ops::remainder(value, 1);
            result = ops::eq(result, 0);
            Tensor is_high_enough = ops::ge(value, lowest);
            result = both(std::move(result), std::move(is_high_enough));
            Tensor is_low_enough = ops::le(value, highest);
            return both(std::move(result), std::move(is_low_enough));
          },
          fmt::format("IntegerInterval(lower_bound={}, upper_bound={})", lowest, highest)};
}

Constraint interval(const Tensor& low, const Tensor& high) {
  return {[low, high](const Tensor& value) {
            Tensor is_high_enough = ops::le(low, value);
            Tensor is_low_enough = ops::le(value, high);
            return both(std::move(is_high_enough), std::move(is_low_enough));
          },
          fmt::format("Interval(lower_bound: torch.Size({}), upper_bound: torch.Size({}))",
                      low.shape().str(), high.shape().str())};
}

Constraint independent(const Constraint& base, int dims) {
  return {[base, dims](const Tensor& value) { return all_of_last(base.check(value), dims); },
          fmt::format("IndependentConstraint({}, {})", base.description, dims)};
}

bool is_true(const Tensor& answer) { return !answer.has_values() || answer.item() != 0; }

bool all_true(const Tensor& valid) {
  const Tensor answer = ops::all(valid);
  return is_true(answer);
}

}  // namespace ohm::distributions
