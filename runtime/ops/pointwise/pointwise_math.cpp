#include "runtime/ops/pointwise/pointwise_math.h"

#include <cmath>
#include <numbers>

#include "runtime/arithmetic/copy.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/functions.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/formula.h"
#include "runtime/ops/pointwise/pointwise_gradients.h"
#include "runtime/ops/pointwise/pointwise_unary.h"
#include "runtime/ops/pointwise/power.h"
#include "runtime/ops/pointwise/sign.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kReciprocal{"reciprocal", CastPolicy::float32};
constexpr OpInfo kRsqrt{"rsqrt", CastPolicy::float32};
constexpr OpInfo kSin{"sin"};
constexpr OpInfo kCos{"cos"};
constexpr OpInfo kTan{"tan", CastPolicy::float32};
constexpr OpInfo kErf{"erf"};
constexpr OpInfo kLog2{"log2", CastPolicy::float32};
constexpr OpInfo kLog10{"log10", CastPolicy::float32};
constexpr OpInfo kLog1p{"log1p", CastPolicy::float32};
constexpr OpInfo kExpm1{"expm1", CastPolicy::float32};
constexpr OpInfo kFloor{"floor"};
constexpr OpInfo kCeil{"ceil"};
constexpr OpInfo kRound{"round"};
constexpr OpInfo kSign{"sign"};
constexpr OpInfo kXlogy{"xlogy"};

// Steps: the gradient is zero everywhere.
template <class F>
Tensor stepped(const OpInfo& info, std::string_view node, const Tensor& input, F&& fn) {
  const OpFront front(info);
  require_floating(input, info);
  Tensor out = map_new(input, fn);
  if (Recorder record(node, {&input}); record.is_needed()) {
    record.attach_differentiable(
        out, [](BackwardCall& call) { return TensorList{zeros_like(call.grad())}; });
  }
  return out;
}

// A whole number is its own: a copy.
template <class F>
Tensor rounded(const OpInfo& info, std::string_view node, const Tensor& input, F&& fn) {
  const bool is_whole = !is_differentiable(input.dtype()) && input.dtype() != DType::boolean;
  if (!is_whole) return stepped(info, node, input, fn);
  const OpFront front(info);
  Tensor out = empty_for_loop(input.shape(), {&input}, options_of(input));
  copy_into(out, input);
  return out;
}

Tensor tan(const Tensor& input) {
  return unary_keeping_result<Integers::read_as_float32>(kTan, "TanBackward", input,
                                                         functors::Tan(), Formula(&tan_gradient));
}

Tensor log2(const Tensor& input) {
  return unary_keeping_input<Integers::read_as_float32>(kLog2, "Log2Backward", input,
                                                        functors::Log2(), Formula(&log2_gradient));
}

Tensor log10(const Tensor& input) {
  return unary_keeping_input<Integers::read_as_float32>(
      kLog10, "Log10Backward", input, functors::Log10(), Formula(&log10_gradient));
}

Tensor floor(const Tensor& input) {
  return rounded(kFloor, "FloorBackward", input, functors::Floor());
}
Tensor ceil(const Tensor& input) { return rounded(kCeil, "CeilBackward", input, functors::Ceil()); }
Tensor round(const Tensor& input) {
  return rounded(kRound, "RoundBackward", input, functors::Round());
}
}  // namespace

Tensor expm1(const Tensor& input) {
  return unary_keeping_result<Integers::read_as_float32>(
      kExpm1, "Expm1Backward", input, functors::Expm1(), Formula(&expm1_gradient));
}

Tensor sign(const Tensor& input) {
  if (is_differentiable(input.dtype())) {
    return stepped(kSign, "SignBackward", input, functors::Sign());
  }
  const OpFront front(kSign);
  Tensor out = empty_for_loop(input.shape(), {&input}, options_of(input));
  map_elements(out, input.dtype(), functors::Sign(), input);
  return out;
}

// ---- gradients ----------------------------------------------------------------------------------

Tensor tan_gradient(const Tensor& grad, const Tensor& y) {
  const Tensor square = formula::squared(y);
  const Tensor slope = formula::plus(square, 1.0);
  return formula::product(grad, slope);
}

Tensor erf_gradient(const Tensor& grad, const Tensor& x) {
  const Tensor square = formula::squared(x);
  const Tensor negated = formula::times(square, -1.0);
  const Tensor bell = formula::mapped(negated, &exp, functors::Exp());
  const Tensor slope = formula::times(bell, 2.0 * std::numbers::inv_sqrtpi);
  return formula::product(slope, grad);
}

// d/dx log_b(x) = 1 / (x log b)
Tensor log2_gradient(const Tensor& grad, const Tensor& x) {
  const Tensor scaled = formula::times(x, std::numbers::ln2);
  return formula::quotient(grad, scaled);
}
Tensor log10_gradient(const Tensor& grad, const Tensor& x) {
  const Tensor scaled = formula::times(x, std::numbers::ln10);
  return formula::quotient(grad, scaled);
}

Tensor log1p_gradient(const Tensor& grad, const Tensor& x) {
  const Tensor shifted = formula::plus(x, 1.0);
  return formula::quotient(grad, shifted);
}

Tensor expm1_gradient(const Tensor& grad, const Tensor& y) {
  const Tensor shifted = formula::plus(y, 1.0);
  return formula::product(grad, shifted);
}

Tensor reciprocal_gradient(const Tensor& grad, const Tensor& y) {
  const Tensor square = formula::product(y, y);
  const Tensor negated = formula::times(grad, -1.0);
  return formula::product(negated, square);
}

Tensor rsqrt_gradient(const Tensor& grad, const Tensor& y) {
  const Tensor cube = formula::is_recorded() ? pow(y, 3.0) : map_new(y, functors::Cubed());
  const Tensor scaled = formula::times(grad, -0.5);
  return formula::product(scaled, cube);
}

Tensor sin_gradient(const Tensor& grad, const Tensor& x) {
  const Tensor slope = formula::mapped(x, &cos, functors::Cos());
  return formula::product(grad, slope);
}

Tensor cos_gradient(const Tensor& grad, const Tensor& x) {
  const Tensor sine = formula::mapped(x, &sin, functors::Sin());
  const Tensor slope = formula::times(sine, -1.0);
  return formula::product(grad, slope);
}

// ---- ops ----------------------------------------------------------------------------------------

Tensor erf(const Tensor& input) {
  return unary_keeping_input<Integers::read_as_float32>(kErf, "ErfBackward", input, functors::Erf(),
                                                        Formula(&erf_gradient));
}

Tensor log1p(const Tensor& input) {
  return unary_keeping_input<Integers::read_as_float32>(
      kLog1p, "Log1pBackward", input, functors::Log1p(), Formula(&log1p_gradient));
}

Tensor reciprocal(const Tensor& input) {
  return unary_keeping_result<Integers::read_as_float32>(kReciprocal, "ReciprocalBackward", input,
                                                         functors::Reciprocal(),
                                                         Formula(&reciprocal_gradient));
}

Tensor rsqrt(const Tensor& input) {
  return unary_keeping_result<Integers::read_as_float32>(
      kRsqrt, "RsqrtBackward", input, functors::Rsqrt(), Formula(&rsqrt_gradient));
}

Tensor sin(const Tensor& input) {
  return unary_keeping_input<Integers::read_as_float32>(kSin, "SinBackward", input, functors::Sin(),
                                                        Formula(&sin_gradient));
}

Tensor cos(const Tensor& input) {
  return unary_keeping_input<Integers::read_as_float32>(kCos, "CosBackward", input, functors::Cos(),
                                                        Formula(&cos_gradient));
}

Tensor xlogy(const Tensor& input, const Tensor& other) {
  const OpFront front(kXlogy);
  require_floating(input, kXlogy);
  const DType dtype = result_dtype(input, other);
  Recorder record("XlogyBackward", {&input, &other});
  record.save(other);
  record.save(input);
  Tensor out = binary_new_floating(kXlogy, input, other, dtype, functors::XLogY());
  record.attach(out, [dtype](BackwardCall& call) {
    const Tensor x = call.saved(1);
    const Tensor y = call.saved(0);
    TensorList grads{Tensor(), Tensor()};
    if (call.needs(1)) {
      const Tensor scaled = formula::product(call.grad(), x);
      grads[1] = formula::quotient(scaled, y);
    }
    if (call.needs(0)) {
      // grad · log(y), and 0 where x is 0 and y is not positive.
      const Tensor slope = map_new(call.grad(), y, functors::XLogYBackward());
      const Tensor y_is_not_positive = empty(y.shape(), {DType::boolean, y.device()});
      const Tensor x_is_zero = empty(x.shape(), {DType::boolean, x.device()});
      const Tensor is_masked =
          empty(broadcast_shapes(x.shape(), y.shape(), "xlogy"), {DType::boolean, x.device()});
      // As masked_fill makes it: contiguous.
      grads[0] = empty(slope.shape(), options_of(slope));
      map_floating(grads[0], dtype, functors::XLogYBackwardKept(), slope, x, y);
    }
    return grads;
  });
  return out;
}

std::vector<OpDef> math_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  return {
      define(kReciprocal, kBoth, &reciprocal, {"input"}),
      define(kRsqrt, kBoth, &rsqrt, {"input"}),
      define(kSin, kBoth, &sin, {"input"}),
      define(kCos, kBoth, &cos, {"input"}),
      define(kTan, kBoth, &tan, {"input"}),
      define(kErf, kBoth, &erf, {"input"}),
      define(kLog2, kBoth, &log2, {"input"}),
      define(kLog10, kBoth, &log10, {"input"}),
      define(kLog1p, kBoth, &log1p, {"input"}),
      define(kExpm1, kBoth, &expm1, {"input"}),
      define(kFloor, kBoth, &floor, {"input"}),
      define(kCeil, kBoth, &ceil, {"input"}),
      define(kRound, kBoth, &round, {"input"}),
      define(kSign, kBoth, &sign, {"input"}),
      define(kXlogy, kBoth, &xlogy, {"input", "other"}),
  };
}

}  // namespace ohm::ops
