#include "runtime/ops/pointwise/trigonometry.h"

#include <cmath>
#include <numbers>

#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/functions.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/formula.h"
#include "runtime/ops/pointwise/pointwise_math.h"
#include "runtime/ops/pointwise/power.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kSinh{"sinh", CastPolicy::float32};
constexpr OpInfo kCosh{"cosh", CastPolicy::float32};
constexpr OpInfo kAsin{"asin", CastPolicy::float32};
constexpr OpInfo kAcos{"acos", CastPolicy::float32};
constexpr OpInfo kAtan{"atan"};
constexpr OpInfo kExp2{"exp2"};
constexpr OpInfo kSinhInplace{"sinh_"};
constexpr OpInfo kCoshInplace{"cosh_"};
constexpr OpInfo kAsinInplace{"asin_"};
constexpr OpInfo kAcosInplace{"acos_"};
constexpr OpInfo kAtanInplace{"atan_"};
constexpr OpInfo kExp2Inplace{"exp2_"};

Tensor sinh(const Tensor& input) {
  return unary_keeping_input<Integers::read_as_float32>(
      kSinh, "SinhBackward", input, functors::Sinh(),
      TwoSteps{functors::Cosh(), functors::Product()});
}

Tensor cosh(const Tensor& input) {
  return unary_keeping_input<Integers::read_as_float32>(
      kCosh, "CoshBackward", input, functors::Cosh(),
      TwoSteps{functors::Sinh(), functors::Product()});
}

// What the slopes of asin and acos are made of: 1 / sqrt(−x·x + 1).
struct InverseRoot {
  explicit InverseRoot(const Tensor& x)
      : negated(formula::times(x, -1.0)),
        square(formula::product(negated, x)),
        shifted(formula::plus(square, 1.0)),
        value(formula::mapped(shifted, &rsqrt, functors::Rsqrt())) {}
  Tensor negated;
  Tensor square;
  Tensor shifted;
  Tensor value;
};

Tensor asin_gradient(const Tensor& grad, const Tensor& x) {
  const InverseRoot root(x);
  return formula::product(grad, root.value);
}

Tensor acos_gradient(const Tensor& grad, const Tensor& x) {
  const InverseRoot root(x);
  const Tensor slope = formula::times(root.value, -1.0);
  return formula::product(grad, slope);
}

Tensor atan_gradient(const Tensor& grad, const Tensor& x) {
  const Tensor square = formula::product(x, x);
  const Tensor shifted = formula::plus(square, 1.0);
  return formula::quotient(grad, shifted);
}

Tensor exp2_gradient(const Tensor& grad, const Tensor& y) {
  const Tensor scaled = formula::product(grad, y);
  return formula::times(scaled, std::numbers::ln2);
}

Tensor asin(const Tensor& input) {
  return unary_keeping_input<Integers::read_as_float32>(kAsin, "AsinBackward", input,
                                                        functors::Asin(), Formula(&asin_gradient));
}

Tensor acos(const Tensor& input) {
  return unary_keeping_input<Integers::read_as_float32>(kAcos, "AcosBackward", input,
                                                        functors::Acos(), Formula(&acos_gradient));
}

Tensor atan(const Tensor& input) {
  return unary_keeping_input<Integers::read_as_float32>(kAtan, "AtanBackward", input,
                                                        functors::Atan(), Formula(&atan_gradient));
}

Tensor exp2(const Tensor& input) {
  return unary_keeping_result<Integers::read_as_float32>(kExp2, "Exp2Backward", input,
                                                         functors::Exp2(), Formula(&exp2_gradient));
}

// ---- over their input ---------------------------------------------------------------------------

Tensor sinh_(const Tensor& input) {
  return overwritten_keeping_input(kSinhInplace, "SinhBackward", input, functors::Sinh(),
                                   TwoSteps{functors::Cosh(), functors::Product()});
}
Tensor cosh_(const Tensor& input) {
  return overwritten_keeping_input(kCoshInplace, "CoshBackward", input, functors::Cosh(),
                                   TwoSteps{functors::Sinh(), functors::Product()});
}
Tensor asin_(const Tensor& input) {
  return overwritten_keeping_input(kAsinInplace, "AsinBackward", input, functors::Asin(),
                                   Formula(&asin_gradient));
}
Tensor acos_(const Tensor& input) {
  return overwritten_keeping_input(kAcosInplace, "AcosBackward", input, functors::Acos(),
                                   Formula(&acos_gradient));
}
Tensor atan_(const Tensor& input) {
  return overwritten_keeping_input(kAtanInplace, "AtanBackward", input, functors::Atan(),
                                   Formula(&atan_gradient));
}
Tensor exp2_(const Tensor& input) {
  return overwritten_keeping_result(kExp2Inplace, "Exp2Backward", input, functors::Exp2(),
                                    Formula(&exp2_gradient));
}

}  // namespace

std::vector<OpDef> trigonometry_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  return {
      define(kSinh, kBoth, &sinh, {"input"}),
      define(kCosh, kBoth, &cosh, {"input"}),
      define(kAsin, kBoth, &asin, {"input"}),
      define(kAcos, kBoth, &acos, {"input"}),
      define(kAtan, kBoth, &atan, {"input"}),
      define(kExp2, kBoth, &exp2, {"input"}),
      define(kSinhInplace, kBoth, &sinh_, {"input"}),
      define(kCoshInplace, kBoth, &cosh_, {"input"}),
      define(kAsinInplace, kBoth, &asin_, {"input"}),
      define(kAcosInplace, kBoth, &acos_, {"input"}),
      define(kAtanInplace, kBoth, &atan_, {"input"}),
      define(kExp2Inplace, kBoth, &exp2_, {"input"}),
  };
}

}  // namespace ohm::ops
