#include "runtime/ops/pointwise/special.h"

#include <cmath>
#include <numbers>

#include "runtime/kernels/functors/activation.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/functions.h"
#include "runtime/kernels/functors/special.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/choice.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/pointwise/pointwise_math.h"
#include "runtime/ops/pointwise/pointwise_unary.h"
#include "runtime/ops/pointwise/power.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kAsinh{"asinh"};
constexpr OpInfo kAcosh{"acosh"};
constexpr OpInfo kAtanh{"atanh"};
constexpr OpInfo kErfc{"erfc"};
constexpr OpInfo kErfinv{"erfinv", CastPolicy::float32};
constexpr OpInfo kLgamma{"lgamma"};
constexpr OpInfo kDigamma{"digamma"};
constexpr OpInfo kSinc{"sinc"};
constexpr OpInfo kTrunc{"trunc"};
constexpr OpInfo kFrac{"frac"};
constexpr OpInfo kLogit{"logit"};
constexpr OpInfo kDeg2rad{"deg2rad"};
constexpr OpInfo kRad2deg{"rad2deg"};
constexpr OpInfo kErfcInplace{"erfc_"};
constexpr OpInfo kErfinvInplace{"erfinv_"};
constexpr OpInfo kLgammaInplace{"lgamma_"};
constexpr OpInfo kDigammaInplace{"digamma_"};
constexpr OpInfo kSincInplace{"sinc_"};
constexpr OpInfo kLogitInplace{"logit_"};
constexpr OpInfo kTruncInplace{"trunc_"};
constexpr OpInfo kFracInplace{"frac_"};

constexpr double kRadiansOfDegree = std::numbers::pi / 180.0;
constexpr double kDegreesOfRadian = 180.0 / std::numbers::pi;

// grad / sqrt(x² + shift)
template <int Shift>
Tensor root_gradient(const Tensor& grad, const Tensor& x) {
  const Tensor square = formula::squared(x);
  const Tensor shifted = formula::plus(square, Shift);
  const Tensor slope = formula::mapped(shifted, &rsqrt, functors::Rsqrt());
  return formula::product(grad, slope);
}

Tensor atanh_gradient(const Tensor& grad, const Tensor& x) {
  const Tensor square = formula::squared(x);
  const Tensor rest =
      formula::is_recorded() ? rsub(square, 1.0) : map_new(square, functors::OneMinus());
  const Tensor scaled = formula::times(grad, 1.0);
  return formula::quotient(scaled, rest);
}

// factor · exp(−x²) · grad
Tensor erfc_gradient(const Tensor& grad, const Tensor& x) {
  const Tensor square = formula::squared(x);
  const Tensor negated = formula::negated(square);
  const Tensor bell = formula::mapped(negated, &exp, functors::Exp());
  const Tensor slope = formula::times(bell, -2.0 * std::numbers::inv_sqrtpi);
  return formula::product(slope, grad);
}

Tensor erfinv_gradient(const Tensor& grad, const Tensor& x) {
  const Tensor result = formula::mapped(x, &erfinv, functors::Erfinv());
  const Tensor square = formula::squared(result);
  const Tensor exponential = formula::mapped(square, &exp, functors::Exp());
  const Tensor slope = formula::times(exponential, 0.5 / std::numbers::inv_sqrtpi);
  return formula::product(slope, grad);
}

Tensor lgamma_gradient(const Tensor& grad, const Tensor& x) {
  const Tensor slope = formula::mapped(x, &digamma, functors::Digamma());
  return formula::product(grad, slope);
}

// grad · (πx · cos(πx) − sin(πx)) / πx², and 0 where x is 0.
Tensor sinc_gradient(const Tensor& grad, const Tensor& x) {
  const Tensor angle = formula::times(x, std::numbers::pi);
  Tensor divisor;
  {
    const Tensor square = formula::product(x, x);
    divisor = formula::times(square, std::numbers::pi);
  }
  Tensor slope;
  {
    const Tensor sine = formula::mapped(angle, &sin, functors::Sin());
    const Tensor cosine = formula::mapped(angle, &cos, functors::Cos());
    const Tensor moved = formula::product(angle, cosine);
    const Tensor gap = formula::difference(moved, sine);
    const Tensor ratio = formula::quotient(gap, divisor);
    slope = formula::product(grad, ratio);
  }
  const Tensor zero = full({}, 0.0, options_of(grad));
  const Tensor is_flat = eq(divisor, 0.0);
  return where(is_flat, zero, slope);
}

functors::LogitBackward logit_slope(std::optional<double> eps) { return {eps.value_or(-1.0)}; }

Tensor asinh(const Tensor& input) {
  return unary_keeping_input<Integers::read_as_float32>(
      kAsinh, "AsinhBackward", input, functors::Asinh(), Formula(&root_gradient<1>));
}
Tensor acosh(const Tensor& input) {
  return unary_keeping_input<Integers::read_as_float32>(
      kAcosh, "AcoshBackward", input, functors::Acosh(), Formula(&root_gradient<-1>));
}
Tensor atanh(const Tensor& input) {
  return unary_keeping_input<Integers::read_as_float32>(
      kAtanh, "AtanhBackward", input, functors::Atanh(), Formula(&atanh_gradient));
}
Tensor erfc(const Tensor& input) {
  return unary_keeping_input<Integers::read_as_float32>(kErfc, "ErfcBackward", input,
                                                        functors::Erfc(), Formula(&erfc_gradient));
}

// ---- over their input ---------------------------------------------------------------------------

Tensor erfc_(const Tensor& input) {
  return overwritten_keeping_input(kErfcInplace, "ErfcBackward", input, functors::Erfc(),
                                   Formula(&erfc_gradient));
}
Tensor erfinv_(const Tensor& input) {
  return overwritten_keeping_input(kErfinvInplace, "ErfinvBackward", input, functors::Erfinv(),
                                   Formula(&erfinv_gradient));
}
Tensor lgamma_(const Tensor& input) {
  return overwritten_keeping_input(kLgammaInplace, "LgammaBackward", input, functors::Lgamma(),
                                   Formula(&lgamma_gradient));
}
Tensor digamma_(const Tensor& input) {
  return overwritten_keeping_input(kDigammaInplace, "DigammaBackward", input, functors::Digamma(),
                                   TwoSteps{functors::Trigamma(), functors::Product()});
}
Tensor sinc_(const Tensor& input) {
  return overwritten_keeping_input(kSincInplace, "SincBackward", input, functors::Sinc(),
                                   Formula(&sinc_gradient));
}
Tensor logit_(const Tensor& input, std::optional<double> eps) {
  return overwritten_keeping_input(kLogitInplace, "LogitBackward", input,
                                   functors::Logit{eps.value_or(-1.0)}, logit_slope(eps));
}

// ---- roundings and factors ----------------------------------------------------------------------

// `gradient(grad)` is that of an op that keeps nothing.
template <class F, class Gradient>
Tensor keeping_nothing(const OpInfo& info, std::string_view node, const Tensor& input, F fn,
                       Gradient gradient) {
  const OpFront front(info);
  require_floating(input, info);
  Tensor out = map_new(input, fn);
  if (Recorder record(node, {&input}); record.is_needed()) {
    record.attach_differentiable(
        out, [gradient](BackwardCall& call) { return TensorList{gradient(call.grad())}; });
  }
  return out;
}

template <class F, class Gradient>
Tensor overwritten_keeping_nothing(const OpInfo& info, std::string_view node, const Tensor& input,
                                   F fn, Gradient gradient) {
  const OpFront front(info);
  require_floating(input, info);
  Recorder record = Recorder::overwriting(info.name, node, {&input});
  begin_inplace_write(input, info.name);
  map_floating(input, input.dtype(), fn, input);
  if (record.is_needed()) {
    record.attach_differentiable(
        input, [gradient](BackwardCall& call) { return TensorList{gradient(call.grad())}; });
  }
  return input;
}

Tensor no_slope(const Tensor& grad) { return zeros_like(grad); }
Tensor same_slope(const Tensor& grad) { return grad; }

Tensor trunc(const Tensor& input) {
  return keeping_nothing(kTrunc, "TruncBackward", input, functors::Trunc(), &no_slope);
}
Tensor trunc_(const Tensor& input) {
  return overwritten_keeping_nothing(kTruncInplace, "TruncBackward", input, functors::Trunc(),
                                     &no_slope);
}
Tensor frac(const Tensor& input) {
  return keeping_nothing(kFrac, "FracBackward", input, functors::Frac(), &same_slope);
}
Tensor frac_(const Tensor& input) {
  return overwritten_keeping_nothing(kFracInplace, "FracBackward", input, functors::Frac(),
                                     &same_slope);
}
Tensor deg2rad(const Tensor& input) {
  return keeping_nothing(kDeg2rad, "Deg2RadBackward", input, functors::Scaled{kRadiansOfDegree},
                         [](const Tensor& grad) { return formula::times(grad, kRadiansOfDegree); });
}
Tensor rad2deg(const Tensor& input) {
  return keeping_nothing(kRad2deg, "Rad2DegBackward", input, functors::Scaled{kDegreesOfRadian},
                         [](const Tensor& grad) { return formula::times(grad, kDegreesOfRadian); });
}

std::vector<OpDef> overwriting_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  return {
      define(kErfcInplace, kBoth, &erfc_, {"input"}),
      define(kErfinvInplace, kMethod, &erfinv_, {"input"}),
      define(kLgammaInplace, kMethod, &lgamma_, {"input"}),
      define(kDigammaInplace, kMethod, &digamma_, {"input"}),
      define(kSincInplace, kBoth, &sinc_, {"input"}),
      define(kLogitInplace, kBoth, &logit_, {"input", "eps"}),
      define(kTruncInplace, kBoth, &trunc_, {"input"}),
      define(kFracInplace, kBoth, &frac_, {"input"}),
  };
}

}  // namespace

Tensor erfinv(const Tensor& input) {
  return unary_keeping_input<Integers::read_as_float32>(
      kErfinv, "ErfinvBackward", input, functors::Erfinv(), Formula(&erfinv_gradient));
}

Tensor lgamma(const Tensor& input) {
  return unary_keeping_input<Integers::read_as_float32>(
      kLgamma, "LgammaBackward", input, functors::Lgamma(), Formula(&lgamma_gradient));
}

Tensor digamma(const Tensor& input) {
  return unary_keeping_input<Integers::read_as_float32>(
      kDigamma, "DigammaBackward", input, functors::Digamma(),
      TwoSteps{functors::Trigamma(), functors::Product()});
}

Tensor sinc(const Tensor& input) {
  return unary_keeping_input<Integers::read_as_float32>(kSinc, "SincBackward", input,
                                                        functors::Sinc(), Formula(&sinc_gradient));
}

Tensor logit(const Tensor& input, std::optional<double> eps) {
  return unary_keeping_input<Integers::read_as_float32>(
      kLogit, "LogitBackward", input, functors::Logit{eps.value_or(-1.0)}, logit_slope(eps));
}

std::vector<OpDef> special_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  std::vector<OpDef> ops = {
      define(kAsinh, kBoth, &asinh, {"input"}),        define(kAcosh, kBoth, &acosh, {"input"}),
      define(kAtanh, kBoth, &atanh, {"input"}),        define(kErfc, kBoth, &erfc, {"input"}),
      define(kErfinv, kBoth, &erfinv, {"input"}),      define(kLgamma, kBoth, &lgamma, {"input"}),
      define(kDigamma, kBoth, &digamma, {"input"}),    define(kSinc, kBoth, &sinc, {"input"}),
      define(kLogit, kBoth, &logit, {"input", "eps"}), define(kTrunc, kBoth, &trunc, {"input"}),
      define(kFrac, kBoth, &frac, {"input"}),          define(kDeg2rad, kBoth, &deg2rad, {"input"}),
      define(kRad2deg, kBoth, &rad2deg, {"input"}),
  };
  for (OpDef& op : overwriting_ops()) ops.push_back(std::move(op));
  return ops;
}

}  // namespace ohm::ops
