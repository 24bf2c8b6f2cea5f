#include "runtime/ops/power.h"

#include "runtime/kernels/functors/functions.h"
#include "runtime/ops/formula.h"
#include "runtime/ops/pointwise.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kPow{"pow", CastPolicy::float32};

Tensor raised(const Tensor& base, const Tensor& exponent) {
  return formula::combined(base, exponent, formulas::Pow());
}

// grad · (input is 0 and exponent at least 0 ? 0 : result · log(input))
Tensor exponent_gradient(const Tensor& grad, const Tensor& input, const Tensor& exponent,
                         const Tensor& result) {
  Tensor is_flat;
  {
    const Tensor is_zero = eq(input, 0.0);
    const Tensor is_positive = ge(exponent, 0.0);
    is_flat = formula::compared(is_zero, is_positive, formulas::Both());
  }
  const Tensor logarithm = formula::mapped(input, &log, formulas::Log());
  const Tensor slope = formula::product(result, logarithm);
  const Tensor zero = full({}, 0.0, options_of(grad));
  const Tensor chosen = where(is_flat, zero, slope);
  return formula::product(grad, chosen);
}

// exponent is 0 ? 0 : grad · exponent · input ^ (exponent − 1)
Tensor base_gradient(const Tensor& grad, const Tensor& input, const Tensor& exponent) {
  const Tensor lower = formula::plus(exponent, -1.0);
  const Tensor power = formula::is_recorded() ? pow(input, lower) : raised(input, lower);
  const Tensor slope = formula::product(exponent, power);
  const Tensor scaled = formula::product(grad, slope);
  const Tensor zero = full({}, 0.0, options_of(grad));
  const Tensor is_zero = eq(exponent, 0.0);
  return where(is_zero, zero, scaled);
}

}  // namespace

Tensor pow(const Tensor& given, const Tensor& given_exponent) {
  const OpFront front(kPow);
  const Tensor exponent = front.input(given_exponent);
  const Tensor input = front.input(given);
  require_floating(input, kPow);
  require_floating(exponent, kPow);
  Recorder record("PowBackward", {&input, &exponent});
  record.save(exponent);
  record.save(input);
  Tensor out = raised(input, exponent);
  if (record.needs(1)) record.save_output(out);
  record.attach_differentiable(out, [](BackwardCall& call) {
    const Tensor power = call.saved(0);
    const Tensor base = call.saved(1);
    TensorList grads{Tensor(), Tensor()};
    if (call.needs(1)) grads[1] = exponent_gradient(call.grad(), base, power, call.saved(2));
    if (call.needs(0)) grads[0] = base_gradient(call.grad(), base, power);
    return grads;
  });
  return out;
}

Tensor power_of(const Tensor& input, const TensorOrNumber& exponent) {
  if (const Tensor* tensor = std::get_if<Tensor>(&exponent)) return pow(input, *tensor);
  return pow(input, std::get<double>(exponent));
}

}  // namespace ohm::ops
