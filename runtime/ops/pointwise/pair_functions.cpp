#include "runtime/ops/pointwise/pair_functions.h"

#include <cmath>

#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/functions.h"
#include "runtime/kernels/functors/special.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/indexing/indexing.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/pointwise/choice.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/pointwise/pointwise_unary.h"
#include "runtime/ops/pointwise/power.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kLogaddexp{"logaddexp"};
constexpr OpInfo kLogaddexp2{"logaddexp2"};
constexpr OpInfo kHypot{"hypot"};
constexpr OpInfo kFmod{"fmod"};
constexpr OpInfo kCopysign{"copysign"};
constexpr OpInfo kHeaviside{"heaviside"};
constexpr OpInfo kFloatPower{"float_power"};
constexpr OpInfo kFmax{"fmax"};
constexpr OpInfo kFmin{"fmin"};

void require_floating_pair(const OpInfo& info, const Tensor& input, const TensorOrNumber& other) {
  require_floating(input, info);
  if (!is_number(other)) require_floating(tensor_of(other), info);
}

// A function of two tensors that keeps both; `slope(grad, mine, theirs)` is its gradient by `mine`.
template <class F, class Slope>
Tensor symmetric_function(const OpInfo& info, std::string_view node, const Tensor& input,
                          const Tensor& other, F fn, Slope slope) {
  const OpFront front(info);
  require_floating_pair(info, input, other);
  Recorder record(node, {&input, &other});
  record.save(other);
  record.save(input);
  Tensor out = binary_new_floating(info, input, other, result_dtype(input, other), fn);
  record.attach_differentiable(out, [slope](BackwardCall& call) {
    const Tensor x = call.saved(1);
    const Tensor y = call.saved(0);
    TensorList grads{Tensor(), Tensor()};
    if (call.needs(1)) grads[1] = slope(call.grad(), y, x);
    if (call.needs(0)) grads[0] = slope(call.grad(), x, y);
    return grads;
  });
  return out;
}

// grad / (1 + exp(theirs − mine))
Tensor logaddexp_slope(const Tensor& grad, const Tensor& mine, const Tensor& theirs) {
  const Tensor gap = formula::difference(theirs, mine);
  const Tensor ratio = formula::mapped(gap, &exp, functors::Exp());
  const Tensor total = formula::plus(ratio, 1.0);
  return formula::quotient(grad, total);
}

Tensor logaddexp2_slope(const Tensor& grad, const Tensor& mine, const Tensor& theirs) {
  const Tensor gap = formula::difference(theirs, mine);
  const Tensor ratio = pow(2.0, gap);
  const Tensor total = formula::plus(ratio, 1.0);
  return formula::quotient(grad, total);
}

// grad · operand / result
Tensor hypot_slope(const Tensor& grad, const Tensor& operand, const Tensor& result) {
  const Tensor share = formula::quotient(operand, result);
  return formula::product(grad, share);
}

// grad with the sign that the input was given; 0 where it was 0.
Tensor copysign_gradient(const Tensor& grad, const Tensor& input, const Tensor& result) {
  const Tensor sign = formula::quotient(result, input);
  masked_fill_(sign, eq(input, 0.0), 0.0);
  return formula::product(grad, sign);
}

Tensor copysign(const Tensor& input, const TensorOrNumber& other) {
  const OpFront front(kCopysign);
  require_floating_pair(kCopysign, input, other);
  Tensor out = binary_new_floating(kCopysign, input, other, result_dtype(input, other),
                                   functors::CopySign());
  Recorder record("CopysignBackward", {&input, &tensor_of(other)});
  record.save(record.needs(0) ? input : Tensor());
  if (record.needs(0)) record.save_output(out);
  record.attach_differentiable(out, [](BackwardCall& call) {
    TensorList grads{Tensor(), Tensor()};
    if (call.needs(1)) grads[1] = zeros_like(call.grad());
    if (call.needs(0)) grads[0] = copysign_gradient(call.grad(), call.saved(0), call.saved(1));
    return grads;
  });
  return out;
}

// ---- the larger or smaller number ---------------------------------------------------------------

using Comparison = Tensor (*)(const Tensor&, const TensorOrNumber&);

/// How the chosen operand compares with the other one: strictly, and where both are equal, too.
struct Choice {
  Comparison strictly;
  Comparison or_equal;
};

/// Whether it is the input that is chosen: it is where the other operand is not a number.
struct ChosenInput {
  Tensor mask;
  Tensor nan;  ///< lives as long as what is made with the mask
};

ChosenInput chosen_input(const Tensor& input, const Tensor& other, Comparison compares) {
  const Tensor mask = compares(input, other);
  const Tensor nan = isnan(other);
  map_elements(mask, DType::boolean, functors::Either(), mask, nan);
  return {mask, nan};
}

// A rule says whether equal operands share the gradient; else the input has it.
bool shares_among_equal() { return Context::current().rules.chosen_numbers_share_gradients; }

Tensor gradient_outside(const Tensor& grad, const Tensor& input, const Tensor& other,
                        const Tensor& mask) {
  if (!shares_among_equal()) return masked_fill(grad, mask, 0.0);
  const Tensor half = formula::times(grad, 0.5);
  const Tensor is_equal = eq(input, other);
  const Tensor share = where(is_equal, half, grad);
  masked_fill_(share, mask, 0.0);
  return share;
}

Tensor gradient_of_other(const Tensor& grad, const Tensor& input, const Tensor& other,
                         const Choice& choice) {
  const ChosenInput chosen =
      chosen_input(input, other, shares_among_equal() ? choice.strictly : choice.or_equal);
  return gradient_outside(grad, input, other, chosen.mask);
}

Tensor gradient_of_input(const Tensor& grad, const Tensor& input, const Tensor& other,
                         const Choice& choice) {
  const ChosenInput chosen = chosen_input(input, other, choice.or_equal);
  map_elements(chosen.mask, DType::boolean, functors::Equal(), chosen.mask, 0.0);
  return gradient_outside(grad, input, other, chosen.mask);
}

// Whole numbers are compared as maximum and minimum do.
template <class F>
Tensor chosen_number(const OpInfo& info, std::string_view node, const Tensor& input,
                     const Tensor& other, F fn, const Choice& choice) {
  const OpFront front(info);
  require_same_device(input, other, info);
  Recorder record(node, {&input, &other});
  record.save(other);
  record.save(input);
  Tensor out = binary_new(info, input, other, result_dtype(input, other), fn);
  record.attach_differentiable(out, [choice](BackwardCall& call) {
    const Tensor x = call.saved(1);
    const Tensor y = call.saved(0);
    TensorList grads{Tensor(), Tensor()};
    if (call.needs(1)) grads[1] = gradient_of_other(call.grad(), x, y, choice);
    if (call.needs(0)) grads[0] = gradient_of_input(call.grad(), x, y, choice);
    return grads;
  });
  return out;
}

Tensor fmax(const Tensor& input, const Tensor& other) {
  return chosen_number(kFmax, "FmaxBackward", input, other, functors::LargerNumber(), {&gt, &ge});
}
Tensor fmin(const Tensor& input, const Tensor& other) {
  return chosen_number(kFmin, "FminBackward", input, other, functors::SmallerNumber(), {&lt, &le});
}

Tensor heaviside(const Tensor& input, const Tensor& values) {
  const OpFront front(kHeaviside);
  require_alike(kHeaviside, input, values);
  return binary_new_floating(kHeaviside, input, values, input.dtype(), functors::Heaviside());
}

// In double, whatever the dtypes are.
Tensor float_power(const Tensor& input, const TensorOrNumber& exponent) {
  const OpFront front(kFloatPower);
  if (is_number(exponent)) return pow(to_dtype(input, DType::float64), number_of(exponent));
  require_same_device(input, tensor_of(exponent), kFloatPower);
  const Tensor power = to_dtype(tensor_of(exponent), DType::float64);
  return pow(to_dtype(input, DType::float64), power);
}

TensorList fmod_gradients(BackwardCall& call) {
  if (!call.needs(1)) return remainder_gradients_by(call, Tensor());
  return remainder_gradients_by(
      call, formula::combined(call.saved(1), call.saved(0), functors::TruncQuotient()));
}

}  // namespace

Tensor logaddexp(const Tensor& input, const Tensor& other) {
  return symmetric_function(kLogaddexp, "LogaddexpBackward", input, other, functors::LogAddExp(),
                            &logaddexp_slope);
}

Tensor logaddexp2(const Tensor& input, const Tensor& other) {
  return symmetric_function(kLogaddexp2, "Logaddexp2Backward", input, other, functors::LogAddExp2(),
                            &logaddexp2_slope);
}

Tensor hypot(const Tensor& input, const Tensor& other) {
  const OpFront front(kHypot);
  require_floating_pair(kHypot, input, other);
  Recorder record("HypotBackward", {&input, &other});
  record.save(other);
  record.save(input);
  Tensor out =
      binary_new_floating(kHypot, input, other, result_dtype(input, other), functors::Hypot());
  record.save_output(out);
  record.attach_differentiable(out, [](BackwardCall& call) {
    const Tensor result = call.saved(2);
    TensorList grads{Tensor(), Tensor()};
    if (call.needs(1)) grads[1] = hypot_slope(call.grad(), call.saved(0), result);
    if (call.needs(0)) grads[0] = hypot_slope(call.grad(), call.saved(1), result);
    return grads;
  });
  return out;
}

Tensor fmod(const Tensor& input, const TensorOrNumber& other) {
  const OpFront front(kFmod);
  require_floating_pair(kFmod, input, other);
  Recorder record("FmodBackward", {&input, &tensor_of(other)});
  record.save(record.needs(1) ? tensor_of(other) : Tensor());
  record.save(record.needs(1) ? input : Tensor());
  Tensor out =
      binary_new_floating(kFmod, input, other, result_dtype(input, other), functors::Fmod());
  record.attach_differentiable(out, &fmod_gradients);
  return out;
}

std::vector<OpDef> pair_function_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  return {
      define(kLogaddexp, kBoth, &logaddexp, {"input", "other"}),
      define(kLogaddexp2, kBoth, &logaddexp2, {"input", "other"}),
      define(kHypot, kBoth, &hypot, {"input", "other"}),
      define(kFmod, kBoth, &fmod, {"input", "other"}),
      define(kCopysign, kBoth, &copysign, {"input", "other"}),
      define(kFmax, kBoth, &fmax, {"input", "other"}),
      define(kFmin, kBoth, &fmin, {"input", "other"}),
      define(kHeaviside, kBoth, &heaviside, {"input", "values"}),
      define(kFloatPower, kBoth, &float_power, {"input", "exponent"}),
  };
}

}  // namespace ohm::ops
