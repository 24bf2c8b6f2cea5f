// Functions of one tensor, written over it. What is kept for backward is the result, or a copy of
// what was overwritten.
#include <cmath>

#include "runtime/arithmetic/copy.h"
#include "runtime/kernels/functors/activation.h"
#include "runtime/ops/activation.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/clamp.h"
#include "runtime/ops/inplace_unary.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kSigmoidInplace{"sigmoid_"};
constexpr OpInfo kTanhInplace{"tanh_"};
constexpr OpInfo kExpInplace{"exp_"};
constexpr OpInfo kSqrtInplace{"sqrt_"};
constexpr OpInfo kNegInplace{"neg_"};
constexpr OpInfo kAbsInplace{"abs_"};
constexpr OpInfo kClampInplace{"clamp_"};

// `gradient(grad, result)`.
template <class Forward, class Gradient>
Tensor overwritten(const OpInfo& info, std::string_view node, const Tensor& input, Forward forward,
                   Gradient gradient) {
  const OpFront front(info);
  require_floating(input, info);
  Recorder record = Recorder::overwriting(info.name, node, {&input});
  begin_inplace_write(input, info.name);
  map_floating(input, input.dtype(), forward, input);
  if (!record.is_needed()) return input;
  record.save_output(input);
  record.attach(input, [gradient](BackwardCall& call) {
    return TensorList{gradient(call.grad(), call.saved(0))};
  });
  return input;
}

Tensor sigmoid_(const Tensor& input) {
  return overwritten(kSigmoidInplace, "SigmoidBackward", input, functors::Sigmoid(),
                     [](const Tensor& grad, const Tensor& y) {
                       return map_new(grad, y, functors::SigmoidBackward());
                     });
}

Tensor tanh_(const Tensor& input) {
  return overwritten(kTanhInplace, "TanhBackward", input, functors::Tanh(),
                     [](const Tensor& grad, const Tensor& y) {
                       return map_new(grad, y, functors::TanhBackward());
                     });
}

Tensor exp_(const Tensor& input) {
  return overwritten(kExpInplace, "ExpBackward", input, functors::Exp(),
                     [](const Tensor& grad, const Tensor& y) { return formula::product(grad, y); });
}

// Nothing is kept.
Tensor neg_(const Tensor& input) {
  const OpFront front(kNegInplace);
  require_floating(input, kNegInplace);
  Recorder record = Recorder::overwriting(kNegInplace.name, "NegBackward", {&input});
  begin_inplace_write(input, kNegInplace.name);
  map_floating(input, input.dtype(), functors::Neg(), input);
  if (!record.is_needed()) return input;
  record.attach(input,
                [](BackwardCall& call) { return TensorList{formula::negated(call.grad())}; });
  return input;
}

Tensor abs_(const Tensor& input) {
  const OpFront front(kAbsInplace);
  require_floating(input, kAbsInplace);
  Recorder record = Recorder::overwriting(kAbsInplace.name, "AbsBackward", {&input});
  if (record.is_needed()) record.save(copy_of(input));
  begin_inplace_write(input, kAbsInplace.name);
  map_floating(input, input.dtype(), functors::Abs(), input);
  if (!record.is_needed()) return input;
  record.attach(input, [](BackwardCall& call) {
    const Tensor sign = map_new(call.saved(0), functors::Sign());
    return TensorList{formula::product(call.grad(), sign)};
  });
  return input;
}

}  // namespace

Tensor sqrt_(const Tensor& input) {
  return overwritten(kSqrtInplace, "SqrtBackward", input, functors::Sqrt(),
                     [](const Tensor& grad, const Tensor& y) {
                       const Tensor twice = formula::times(y, 2.0);
                       return formula::quotient(grad, twice);
                     });
}

Tensor clamp_(const Tensor& input, std::optional<double> min, std::optional<double> max) {
  const OpFront front(kClampInplace);
  require_floating(input, kClampInplace);
  if (!min && !max) {
    throw std::invalid_argument("[clamp_] at least one of min and max must be given");
  }
  Recorder record = Recorder::overwriting(kClampInplace.name, "ClampBackward", {&input});
  if (record.is_needed()) record.save(copy_of(input));
  begin_inplace_write(input, kClampInplace.name);
  map_floating(input, input.dtype(), clamped(min, max), input);
  if (!record.is_needed()) return input;
  record.attach(input, [min, max](BackwardCall& call) {
    return TensorList{clamp_gradient(call.grad(), call.saved(0), min, max)};
  });
  return input;
}

std::vector<OpDef> inplace_unary_ops() {
  return {
      define(kSigmoidInplace, kMethod, &sigmoid_, {"input"}),
      define(kTanhInplace, kMethod, &tanh_, {"input"}),
      define(kExpInplace, kMethod, &exp_, {"input"}),
      define(kSqrtInplace, kMethod, &sqrt_, {"input"}),
      define(kNegInplace, kMethod, &neg_, {"input"}),
      define(kAbsInplace, kMethod, &abs_, {"input"}),
      define(kClampInplace, kMethod, &clamp_, {"input", "min", "max"}),
  };
}

}  // namespace ohm::ops
