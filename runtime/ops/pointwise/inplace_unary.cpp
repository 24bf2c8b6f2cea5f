// Functions of one tensor, written over it. What is kept for backward is the result, or a copy of
// what was overwritten.
#include <cmath>

#include "runtime/arithmetic/copy.h"
#include "runtime/kernels/functors/activation.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/functions.h"
#include "runtime/ops/activation/activation.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/inplace_unary.h"
#include "runtime/ops/pointwise/pointwise_gradients.h"
#include "runtime/ops/pointwise/pointwise_unary.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kSigmoidInplace{"sigmoid_"};
constexpr OpInfo kTanhInplace{"tanh_"};
constexpr OpInfo kExpInplace{"exp_"};
constexpr OpInfo kSqrtInplace{"sqrt_"};
constexpr OpInfo kNegInplace{"neg_"};
constexpr OpInfo kAbsInplace{"abs_"};
constexpr OpInfo kLogInplace{"log_"};
constexpr OpInfo kLog2Inplace{"log2_"};
constexpr OpInfo kLog10Inplace{"log10_"};
constexpr OpInfo kLog1pInplace{"log1p_"};
constexpr OpInfo kSinInplace{"sin_"};
constexpr OpInfo kCosInplace{"cos_"};
constexpr OpInfo kTanInplace{"tan_"};
constexpr OpInfo kErfInplace{"erf_"};
constexpr OpInfo kExpm1Inplace{"expm1_"};
constexpr OpInfo kRsqrtInplace{"rsqrt_"};
constexpr OpInfo kReciprocalInplace{"reciprocal_"};
constexpr OpInfo kFloorInplace{"floor_"};
constexpr OpInfo kCeilInplace{"ceil_"};
constexpr OpInfo kRoundInplace{"round_"};
constexpr OpInfo kSignInplace{"sign_"};

// Steps: nothing is kept, and the gradient is zero everywhere.
template <class Forward>
Tensor stepped_over(const OpInfo& info, std::string_view node, const Tensor& input,
                    Forward forward) {
  const OpFront front(info);
  require_floating(input, info);
  Recorder record = Recorder::overwriting(info.name, node, {&input});
  begin_inplace_write(input, info.name);
  map_floating(input, input.dtype(), forward, input);
  if (!record.is_needed()) return input;
  record.attach_differentiable(
      input, [](BackwardCall& call) { return TensorList{zeros_like(call.grad())}; });
  return input;
}

Tensor log_gradient(const Tensor& grad, const Tensor& x) { return formula::quotient(grad, x); }

Tensor sigmoid_(const Tensor& input) {
  return overwritten_keeping_result(kSigmoidInplace, "SigmoidBackward", input, functors::Sigmoid(),
                                    Formula(&sigmoid_gradient));
}

Tensor tanh_(const Tensor& input) {
  return overwritten_keeping_result(kTanhInplace, "TanhBackward", input, functors::Tanh(),
                                    Formula(&tanh_gradient));
}

// Nothing is kept.
Tensor neg_(const Tensor& input) {
  const OpFront front(kNegInplace);
  require_floating(input, kNegInplace);
  Recorder record = Recorder::overwriting(kNegInplace.name, "NegBackward", {&input});
  begin_inplace_write(input, kNegInplace.name);
  map_floating(input, input.dtype(), functors::Neg(), input);
  if (!record.is_needed()) return input;
  record.attach_differentiable(
      input, [](BackwardCall& call) { return TensorList{formula::negated(call.grad())}; });
  return input;
}

Tensor abs_(const Tensor& input) {
  return overwritten_keeping_input(kAbsInplace, "AbsBackward", input, functors::Abs(),
                                   Formula([](const Tensor& grad, const Tensor& x) {
                                     const Tensor sign = signs_of(x);
                                     return formula::product(grad, sign);
                                   }));
}

Tensor log2_(const Tensor& input) {
  return overwritten_keeping_input(kLog2Inplace, "Log2Backward", input, functors::Log2(),
                                   Formula(&log2_gradient));
}

Tensor log10_(const Tensor& input) {
  return overwritten_keeping_input(kLog10Inplace, "Log10Backward", input, functors::Log10(),
                                   Formula(&log10_gradient));
}

Tensor log1p_(const Tensor& input) {
  return overwritten_keeping_input(kLog1pInplace, "Log1pBackward", input, functors::Log1p(),
                                   Formula(&log1p_gradient));
}

Tensor sin_(const Tensor& input) {
  return overwritten_keeping_input(kSinInplace, "SinBackward", input, functors::Sin(),
                                   Formula(&sin_gradient));
}

Tensor cos_(const Tensor& input) {
  return overwritten_keeping_input(kCosInplace, "CosBackward", input, functors::Cos(),
                                   Formula(&cos_gradient));
}

Tensor erf_(const Tensor& input) {
  return overwritten_keeping_input(kErfInplace, "ErfBackward", input, functors::Erf(),
                                   Formula(&erf_gradient));
}

Tensor tan_(const Tensor& input) {
  return overwritten_keeping_result(kTanInplace, "TanBackward", input, functors::Tan(),
                                    Formula(&tan_gradient));
}

Tensor expm1_(const Tensor& input) {
  return overwritten_keeping_result(kExpm1Inplace, "Expm1Backward", input, functors::Expm1(),
                                    Formula(&expm1_gradient));
}

Tensor rsqrt_(const Tensor& input) {
  return overwritten_keeping_result(kRsqrtInplace, "RsqrtBackward", input, functors::Rsqrt(),
                                    Formula(&rsqrt_gradient));
}

Tensor reciprocal_(const Tensor& input) {
  return overwritten_keeping_result(kReciprocalInplace, "ReciprocalBackward", input,
                                    functors::Reciprocal(), Formula(&reciprocal_gradient));
}

Tensor floor_(const Tensor& input) {
  return stepped_over(kFloorInplace, "FloorBackward", input, functors::Floor());
}

Tensor ceil_(const Tensor& input) {
  return stepped_over(kCeilInplace, "CeilBackward", input, functors::Ceil());
}

Tensor round_(const Tensor& input) {
  return stepped_over(kRoundInplace, "RoundBackward", input, functors::Round());
}

Tensor sign_(const Tensor& input) {
  return stepped_over(kSignInplace, "SignBackward", input, functors::Sign());
}

}  // namespace

Tensor exp_(const Tensor& input) {
  return overwritten_keeping_result(
      kExpInplace, "ExpBackward", input, functors::Exp(),
      Formula([](const Tensor& grad, const Tensor& y) { return formula::product(grad, y); }));
}

Tensor log_(const Tensor& input) {
  return overwritten_keeping_input(kLogInplace, "LogBackward", input, functors::Log(),
                                   Formula(&log_gradient));
}

Tensor sqrt_(const Tensor& input) {
  return overwritten_keeping_result(kSqrtInplace, "SqrtBackward", input, functors::Sqrt(),
                                    Formula([](const Tensor& grad, const Tensor& y) {
                                      const Tensor twice = formula::times(y, 2.0);
                                      return formula::quotient(grad, twice);
                                    }));
}

std::vector<OpDef> inplace_unary_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  return {
      define(kSigmoidInplace, kBoth, &sigmoid_, {"input"}),
      define(kTanhInplace, kBoth, &tanh_, {"input"}),
      define(kExpInplace, kBoth, &exp_, {"input"}),
      define(kSqrtInplace, kBoth, &sqrt_, {"input"}),
      define(kNegInplace, kBoth, &neg_, {"input"}),
      define(kAbsInplace, kBoth, &abs_, {"input"}),
      define(kLogInplace, kBoth, &log_, {"input"}),
      define(kLog2Inplace, kBoth, &log2_, {"input"}),
      define(kLog10Inplace, kBoth, &log10_, {"input"}),
      define(kLog1pInplace, kBoth, &log1p_, {"input"}),
      define(kSinInplace, kBoth, &sin_, {"input"}),
      define(kCosInplace, kBoth, &cos_, {"input"}),
      define(kTanInplace, kBoth, &tan_, {"input"}),
      define(kErfInplace, kBoth, &erf_, {"input"}),
      define(kExpm1Inplace, kBoth, &expm1_, {"input"}),
      define(kRsqrtInplace, kBoth, &rsqrt_, {"input"}),
      define(kReciprocalInplace, kBoth, &reciprocal_, {"input"}),
      define(kFloorInplace, kBoth, &floor_, {"input"}),
      define(kCeilInplace, kBoth, &ceil_, {"input"}),
      define(kRoundInplace, kBoth, &round_, {"input"}),
      define(kSignInplace, kMethod, &sign_, {"input"}),
  };
}

}  // namespace ohm::ops
