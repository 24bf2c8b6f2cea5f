#include <cmath>
#include <limits>

#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/ops/binary_kernel.h"
#include "runtime/ops/formula.h"
#include "runtime/ops/inplace_unary.h"
#include "runtime/ops/pointwise.h"
#include "runtime/ops/power.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kNeg{"neg"};
constexpr OpInfo kExp{"exp", CastPolicy::float32};
constexpr OpInfo kLog{"log", CastPolicy::float32};
constexpr OpInfo kSqrt{"sqrt"};
constexpr OpInfo kAbs{"abs"};
constexpr OpInfo kPow{"pow", CastPolicy::float32};
constexpr OpInfo kSquare{"square"};
constexpr OpInfo kClamp{"clamp"};
constexpr OpInfo kIsFinite{"isfinite"};
constexpr OpInfo kIsInf{"isinf"};
constexpr OpInfo kIsNan{"isnan"};
constexpr OpInfo kEq{"eq"};
constexpr OpInfo kNe{"ne"};
constexpr OpInfo kLt{"lt"};
constexpr OpInfo kLe{"le"};
constexpr OpInfo kGt{"gt"};
constexpr OpInfo kGe{"ge"};

template <class F>
Tensor compare(const OpInfo& info, const Tensor& input, const TensorOrNumber& other, F&& fn) {
  const OpFront front(info);
  Tensor out = empty_for(input, other, DType::boolean, info);
  visit_dtype(result_dtype(input, other),
              [&]<class T>(TypeTag<T>) { loop_binary<bool, T>(out, input, other, fn); });
  return out;
}

// The same for every element.
Tensor answered(const OpInfo& info, const Tensor& input, bool answer) {
  const OpFront front(info);
  Tensor out = empty_like(input, DType::boolean);
  fill_values(out, answer ? 1.0 : 0.0);
  return out;
}

// Not-a-number is.
Tensor unlike_itself(const Tensor& input) {
  const OpFront front(kIsNan);
  Tensor out = empty_like(input, DType::boolean);
  visit_dtype(input.dtype(), [&]<class T>(TypeTag<T>) {
    map_binary<bool, T>(out, input, input, formulas::Unequal());
  });
  return out;
}

// −1, 0 or 1; its own gradient is 0 everywhere.
Tensor sign_of(const Tensor& x) {
  Tensor out = map_new(x, formulas::Sign());
  if (Recorder record("SgnBackward", {&x}); record.is_needed()) {
    record.attach_differentiable(
        out, [](BackwardCall& call) { return TensorList{zeros_like(call.grad())}; });
  }
  return out;
}

Tensor raised(const Tensor& base, double power) {
  return map_new(base, formulas::PowScalar{power});
}

Tensor power(const OpInfo& info, const Tensor& given, double exponent) {
  const OpFront front(info);
  const Tensor input = front.input(given);
  require_floating(input, info);
  Recorder record("PowBackward", {&input});
  record.save(input);
  Tensor out = raised(input, exponent);
  record.attach_differentiable(out, [=](BackwardCall& call) {
    if (exponent == 0.0) return TensorList{zeros_like(call.grad())};
    // x^(p-1), p times it, and the gradient times that: three tensors at the peak.
    const Tensor base = call.saved(0);
    const Tensor lower =
        call.is_recorded() ? pow(base, exponent - 1.0) : raised(base, exponent - 1.0);
    const Tensor slope = formula::times(lower, exponent);
    return TensorList{formula::product(call.grad(), slope)};
  });
  return out;
}

std::vector<Sample> positive() {
  return {{from_values({0.3, 0.8, 1.4, 2.1, 0.6, 1.1}, {2, 3}, {DType::float64, Device::cpu()})}};
}

std::vector<Sample> both_signs() {
  return {
      {from_values({-1.3, 0.8, -0.4, 2.1, 0.6, -1.1}, {2, 3}, {DType::float64, Device::cpu()})}};
}

std::vector<Sample> powers() {
  std::vector<Sample> samples;
  for (const double exponent : {2.0, 3.0, 0.5, -1.5}) {
    samples.push_back(positive()[0]);
    samples.back().emplace_back(exponent);
  }
  samples.push_back({positive()[0][0], both_signs()[0][0]});
  return samples;
}

std::vector<Sample> bounds() {
  std::vector<Sample> samples(3, both_signs()[0]);
  samples[0].insert(samples[0].end(), {Value(-0.5), Value(0.7)});
  samples[1].insert(samples[1].end(), {Value(-0.5), Value()});
  samples[2].insert(samples[2].end(), {Value(), Value(0.7)});
  return samples;
}

}  // namespace

Tensor neg(const Tensor& input) {
  const OpFront front(kNeg);
  Tensor out = empty_like(input);
  visit_dtype(input.dtype(),
              [&]<class T>(TypeTag<T>) { map_unary<T, T>(out, input, formulas::Neg()); });
  if (Recorder record("NegBackward", {&input}); record.is_needed()) {
    record.attach_differentiable(
        out, [](BackwardCall& call) { return TensorList{formula::negated(call.grad())}; });
  }
  return out;
}

Tensor exp(const Tensor& input) {
  return unary_keeping_result(
      kExp, "ExpBackward", input, formulas::Exp(),
      Formula([](const Tensor& grad, const Tensor& y) { return formula::product(grad, y); }));
}

Tensor log(const Tensor& input) {
  return unary_keeping_input(
      kLog, "LogBackward", input, formulas::Log(),
      Formula([](const Tensor& grad, const Tensor& x) { return formula::quotient(grad, x); }));
}

Tensor sqrt(const Tensor& input) {
  return unary_keeping_result(kSqrt, "SqrtBackward", input, formulas::Sqrt(),
                              Formula([](const Tensor& grad, const Tensor& y) {
                                const Tensor twice = formula::times(y, 2.0);
                                return formula::quotient(grad, twice);
                              }));
}

Tensor abs(const Tensor& input) {
  return unary_keeping_input(kAbs, "AbsBackward", input, formulas::Abs(),
                             Formula([](const Tensor& grad, const Tensor& x) {
                               const Tensor sign = sign_of(x);
                               return formula::product(grad, sign);
                             }));
}

Tensor pow(const Tensor& given, double exponent) { return power(kPow, given, exponent); }

Tensor square(const Tensor& input) { return power(kSquare, input, 2.0); }

formulas::Clamp clamped(std::optional<double> min, std::optional<double> max) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return {min.value_or(-kInfinity), max.value_or(kInfinity)};
}

// The masks of both bounds stay until the gradient is chosen; so does the zero that is chosen.
Tensor clamp_gradient(const Tensor& grad, const Tensor& input, std::optional<double> min,
                      std::optional<double> max) {
  const Tensor zero = full({}, 0.0, options_of(grad));
  const Tensor above = min ? ge(input, *min) : Tensor();
  const Tensor below = max ? le(input, *max) : Tensor();
  Tensor mask = above.defined() ? above : below;
  if (above.defined() && below.defined()) {
    map_binary<bool, bool>(mask, above, below, formulas::Both());
  }
  return where(mask, grad, zero);
}

Tensor clamp(const Tensor& input, std::optional<double> min, std::optional<double> max) {
  const OpFront front(kClamp);
  if (!min && !max)
    throw std::invalid_argument("[clamp] at least one of min and max must be given");
  Recorder record("ClampBackward", {&input});
  record.save(input);
  Tensor out = empty_like(input);
  visit_dtype(input.dtype(),
              [&]<class T>(TypeTag<T>) { map_unary<T, T>(out, input, clamped(min, max)); });
  record.attach_differentiable(out, [min, max](BackwardCall& call) {
    return TensorList{clamp_gradient(call.grad(), call.saved(0), min, max)};
  });
  return out;
}

Tensor eq(const Tensor& input, const TensorOrNumber& other) {
  return compare(kEq, input, other, formulas::Equal());
}
Tensor ne(const Tensor& input, const TensorOrNumber& other) {
  return compare(kNe, input, other, formulas::Unequal());
}
Tensor lt(const Tensor& input, const TensorOrNumber& other) {
  return compare(kLt, input, other, formulas::Less());
}
Tensor le(const Tensor& input, const TensorOrNumber& other) {
  return compare(kLe, input, other, formulas::LessOrEqual());
}
Tensor gt(const Tensor& input, const TensorOrNumber& other) {
  return compare(kGt, input, other, formulas::Greater());
}
Tensor ge(const Tensor& input, const TensorOrNumber& other) {
  return compare(kGe, input, other, formulas::GreaterOrEqual());
}

Tensor isfinite(const Tensor& input) {
  if (!is_floating(input.dtype())) {
    return answered(kIsFinite, input, true);
  }
  // The size of x, whether it is not infinite, whether x is a number: three temporaries.
  const OpFront front(kIsFinite);
  const Tensor size = map_new(input, formulas::Abs());
  const Tensor is_bounded = ne(size, std::numeric_limits<double>::infinity());
  const Tensor is_number = eq(input, input);
  Tensor out = empty_like(input, DType::boolean);
  map_binary<bool, bool>(out, is_bounded, is_number, formulas::Both());
  return out;
}
Tensor isinf(const Tensor& input) {
  const OpFront front(kIsInf);
  if (!is_floating(input.dtype())) {
    return answered(kIsInf, input, false);
  }
  const Tensor size = map_new(input, formulas::Abs());
  return eq(size, std::numeric_limits<double>::infinity());
}
Tensor isnan(const Tensor& input) { return unlike_itself(input); }

std::vector<OpDef> unary_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  return {
      define(kNeg, kBoth, &neg, {"input"}, both_signs),
      define(kExp, kBoth, &exp, {"input"}, both_signs),
      define(kLog, kBoth, &log, {"input"}, positive),
      define(kSqrt, kBoth, &sqrt, {"input"}, positive),
      define(kAbs, kBoth, &abs, {"input"}, both_signs),
      define(kPow, kBoth, &power_of, {"input", "exponent"}, powers),
      define(kSquare, kBoth, &square, {"input"}, both_signs),
      define(kClamp, kBoth, &clamp, {"input", "min", "max"}, bounds),
  };
}

std::vector<OpDef> comparison_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  return {
      define(kEq, kBoth, &eq, {"input", "other"}),    define(kNe, kBoth, &ne, {"input", "other"}),
      define(kLt, kBoth, &lt, {"input", "other"}),    define(kLe, kBoth, &le, {"input", "other"}),
      define(kGt, kBoth, &gt, {"input", "other"}),    define(kGe, kBoth, &ge, {"input", "other"}),
      define(kIsFinite, kBoth, &isfinite, {"input"}), define(kIsInf, kBoth, &isinf, {"input"}),
      define(kIsNan, kBoth, &isnan, {"input"}),
  };
}

}  // namespace ohm::ops
