#include "runtime/ops/pointwise/power.h"

#include <cmath>

#include "runtime/arithmetic/copy.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/functions.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/choice.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/pointwise/pointwise_unary.h"
#include "runtime/ops/pointwise/whole_power.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kPow{"pow", CastPolicy::float32};
constexpr OpInfo kSquare{"square", CastPolicy::float32};
constexpr OpInfo kPowInplace{"pow_"};
constexpr OpInfo kSquareInplace{"square_"};

Tensor raised(const Tensor& base, const Tensor& exponent) {
  return formula::combined(base, exponent, functors::Pow());
}

// grad · (input is 0 and exponent at least 0 ? 0 : result · log(input))
Tensor exponent_gradient(const Tensor& grad, const Tensor& input, const Tensor& exponent,
                         const Tensor& result) {
  Tensor is_flat;
  {
    const Tensor is_positive = ge(exponent, 0.0);
    const Tensor is_zero = eq(input, 0.0);
    is_flat = formula::compared(is_zero, is_positive, functors::Both());
  }
  const Tensor wide = to_dtype(input, promoted_dtype({&input, &exponent}));
  const Tensor logarithm = formula::mapped(wide, &log, functors::Log());
  const Tensor slope = formula::product(result, logarithm);
  const Tensor zero = full({}, 0.0, options_of(grad));
  const Tensor chosen = where(is_flat, zero, slope);
  return formula::product(grad, chosen);
}

// exponent is 0 ? 0 : grad · exponent · input ^ (exponent − 1)
Tensor base_gradient(const Tensor& grad, const Tensor& input, const Tensor& exponent) {
  require_no_mask(kPow.name, exponent, 1.0);
  const Tensor lower = formula::plus(exponent, -1.0);
  const Tensor power = formula::is_recorded() ? pow(input, lower) : raised(input, lower);
  const Tensor slope = formula::product(exponent, power);
  const Tensor scaled = formula::product(grad, slope);
  const Tensor zero = full({}, 0.0, options_of(grad));
  const Tensor is_zero = eq(exponent, 0.0);
  return where(is_zero, zero, scaled);
}

Tensor raised(const Tensor& base, double power) {
  return map_new(base, functors::PowScalar{power});
}

// Of a power with a number, by the input that was saved.
Tensor power_gradient(const BackwardCall& call, double exponent) {
  if (exponent == 0.0) return zeros_like(call.grad());
  // x^(p-1), p times it, and the gradient times that: three tensors at the peak.
  const Tensor base = call.saved(0);
  const Tensor lower =
      call.is_recorded() ? pow(base, exponent - 1.0) : raised(base, exponent - 1.0);
  const Tensor slope = formula::times(lower, exponent);
  return formula::product(call.grad(), slope);
}

// Of a power with a tensor, which saved the exponent, the input and the result.
TensorList power_gradients(BackwardCall& call) {
  const Tensor power = call.saved(0);
  const Tensor base = call.saved(1);
  TensorList grads{Tensor(), Tensor()};
  if (call.needs(1)) grads[1] = exponent_gradient(call.grad(), base, power, call.saved(2));
  if (call.needs(0)) grads[0] = base_gradient(call.grad(), base, power);
  return grads;
}

// Whole numbers have no gradient.
Tensor whole_power_over(const OpInfo& info, const Tensor& input, const TensorOrNumber& exponent) {
  const OpFront front(info);
  const DType dtype = result_dtype(input, exponent);
  if (dtype != input.dtype()) {
    throw std::invalid_argument(
        fmt::format("[{}] result type {} can't be cast to the desired output type {}", info.name,
                    name_of(dtype), name_of(input.dtype())));
  }
  begin_inplace_write(input, info.name);
  raise_whole(info, input, input, exponent);
  return input;
}

// The same written over the input.
Tensor power_over(const OpInfo& info, const Tensor& input, double exponent) {
  const OpFront front(info);
  require_floating(input, info);
  Recorder record = Recorder::overwriting(info.name, "PowBackward", {&input});
  save_copy(record, input);
  begin_inplace_write(input, info.name);
  map_floating(input, input.dtype(), functors::PowScalar{exponent}, input);
  record.attach_differentiable(
      input, [exponent](BackwardCall& call) { return TensorList{power_gradient(call, exponent)}; });
  return input;
}

Tensor power_over(const Tensor& input, const Tensor& exponent) {
  const OpFront front(kPowInplace);
  require_floating(input, kPowInplace);
  require_floating(exponent, kPowInplace);
  require_same_device(input, exponent, kPowInplace);
  if (!(broadcast_shapes(input.shape(), exponent.shape(), "pow_") == input.shape())) {
    throw std::invalid_argument(
        fmt::format("[pow_] output with shape {} doesn't match the broadcast shape of {}",
                    input.shape().str(), exponent.shape().str()));
  }
  require_no_partial_overlap(input, exponent, "pow_");
  Recorder record = Recorder::overwriting("pow_", "PowBackward", {&input, &exponent});
  record.save(exponent);
  save_copy(record, input);
  begin_inplace_write(input, "pow_");
  map_floating(input, input.dtype(), functors::Pow(), input, exponent);
  record.save_output(input);
  record.attach_differentiable(input, &power_gradients);
  return input;
}

Tensor pow_(const Tensor& input, const TensorOrNumber& exponent) {
  if (!is_differentiable(input.dtype())) return whole_power_over(kPowInplace, input, exponent);
  if (const Tensor* tensor = std::get_if<Tensor>(&exponent)) return power_over(input, *tensor);
  return power_over(kPowInplace, input, number_of(exponent));
}
Tensor square_(const Tensor& input) {
  if (!is_differentiable(input.dtype())) return whole_power_over(kSquareInplace, input, Number(2));
  return power_over(kSquareInplace, input, 2.0);
}

Tensor whole_power(const OpInfo& info, const Tensor& input, const TensorOrNumber& exponent,
                   DType dtype) {
  Tensor out = empty_for(input, exponent, dtype, info);
  raise_whole(info, out, input, exponent);
  return out;
}

// Of whole numbers, which stay whole where the exponent is.
Tensor power_of_integers(const OpInfo& info, const Tensor& input, const Number& exponent) {
  const OpFront front(info);
  const DType dtype = result_dtype(input, exponent);
  const Tensor base = cast(input, dtype);
  if (!is_floating(dtype)) return whole_power(info, base, exponent, dtype);
  return map_new(base, functors::PowScalar{exponent.value});
}

Tensor power(const OpInfo& info, const Tensor& given, double exponent) {
  const OpFront front(info);
  const Tensor input = front.input(given);
  require_floating(input, info);
  Recorder record("PowBackward", {&input});
  record.save(input);
  Tensor out = raised(input, exponent);
  record.attach_differentiable(
      out, [exponent](BackwardCall& call) { return TensorList{power_gradient(call, exponent)}; });
  return out;
}

}  // namespace

Tensor pow(const Tensor& given, double exponent) { return power(kPow, given, exponent); }

Tensor square(const Tensor& input) {
  if (!is_differentiable(input.dtype())) return power_of_integers(kSquare, input, Number(2));
  return power(kSquare, input, 2.0);
}

Tensor pow(const Tensor& given, const Tensor& given_exponent) {
  const OpFront front(kPow);
  const Tensor exponent = front.input(given_exponent);
  const Tensor input = front.input(given);
  const DType dtype = result_dtype(input, exponent);
  if (!is_floating(dtype)) return whole_power(kPow, input, exponent, dtype);
  Recorder record("PowBackward", {&input, &exponent});
  record.save(exponent);
  record.save(input);
  Tensor out = binary_new_floating(kPow, input, exponent, dtype, functors::Pow());
  record.save_output(out);
  record.attach_differentiable(out, &power_gradients);
  return out;
}

Tensor pow(const Number& number, const Tensor& given) {
  const OpFront front(kPow);
  const Tensor exponent = front.input(given);
  const double base = number.value;
  const DType dtype = result_dtype(exponent, number);
  Recorder record("PowBackward", {&exponent});
  record.save(exponent);
  Tensor out = empty(exponent.shape(), {dtype, exponent.device()});
  {
    // The base as a number on the device; powers of 1 need none.
    const DType wide = number.is_integer ? DType::int64 : DType::float64;
    const Tensor on_device = base == 1.0 ? Tensor() : full({}, base, {wide, exponent.device()});
    if (is_floating(dtype)) {
      map_floating(out, dtype, functors::Pow(), base, exponent);
    } else {
      raise_whole(kPow, out, number, exponent);
    }
  }
  record.save_output(out);
  record.attach_differentiable(out, [base](BackwardCall& call) {
    const Tensor& grad = call.grad();
    const Tensor slope = formula::times(call.saved(1), std::log(base));
    if (base != 0.0) return TensorList{formula::product(grad, slope)};
    // Of 0 it has no slope from an exponent of 0 on.
    const Tensor zero = full({}, 0.0, options_of(grad));
    const Tensor is_flat = ge(call.saved(0), 0.0);
    const Tensor chosen = where(is_flat, zero, slope);
    return TensorList{formula::product(grad, chosen)};
  });
  return out;
}

Tensor power_of(const Tensor& input, const TensorOrNumber& exponent) {
  if (const Tensor* tensor = std::get_if<Tensor>(&exponent)) return pow(input, *tensor);
  if (!is_differentiable(input.dtype())) {
    return power_of_integers(kPow, input, std::get<Number>(exponent));
  }
  return pow(input, number_of(exponent));
}

std::vector<OpDef> power_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  return {
      define(kPow, kBoth, &power_of, {"input", "exponent"}),
      define(kSquare, kBoth, &square, {"input"}),
      define(kPowInplace, kMethod, &pow_, {"input", "exponent"}),
      define(kSquareInplace, kBoth, &square_, {"input"}),
  };
}

Tensor formula::squared(const Tensor& tensor) {
  return mapped(tensor, &square, functors::Square());
}

}  // namespace ohm::ops
