#include "runtime/ops/pointwise/pointwise_unary.h"

#include <limits>

#include "runtime/arithmetic/copy.h"
#include "runtime/autograd/zero_gradient.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/functions.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/comparison.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kExp{"exp", CastPolicy::float32};
constexpr OpInfo kLog{"log", CastPolicy::float32};
constexpr OpInfo kSqrt{"sqrt"};
constexpr OpInfo kAbs{"abs"};
constexpr OpInfo kPositive{"positive"};
constexpr OpInfo kNanToNum{"nan_to_num"};
constexpr OpInfo kNanToNumInplace{"nan_to_num_"};

// +x: the tensor itself.
Tensor positive(const Tensor& input) {
  if (input.dtype() != DType::boolean) return input;
  throw std::invalid_argument("[positive] The `+` operator, on a bool tensor is not supported.");
}

functors::NanToNum numbers_instead(DType dtype, std::optional<double> nan,
                                   std::optional<double> posinf, std::optional<double> neginf) {
  double largest = std::numeric_limits<double>::max();
  if (dtype == DType::float32) largest = std::numeric_limits<float>::max();
  if (dtype == DType::float16) largest = 65504.0;
  if (dtype == DType::bfloat16) largest = 0x1.FEp127;
  return {nan.value_or(0.0), posinf.value_or(largest), neginf.value_or(-largest)};
}

// Of what is kept alone.
TensorList gradient_of_numbers(BackwardCall& call) {
  const Tensor is_kept = isfinite(call.saved(0));
  return {formula::product(call.grad(), is_kept)};
}

// Integers have nothing to replace.
Tensor nan_to_num(const Tensor& input, std::optional<double> nan, std::optional<double> posinf,
                  std::optional<double> neginf) {
  const OpFront front(kNanToNum);
  Recorder record("NanToNumBackward", {&input});
  record.save(input);
  Tensor out = empty_like(input);
  if (is_floating(input.dtype())) {
    map_floating(out, input.dtype(), numbers_instead(input.dtype(), nan, posinf, neginf), input);
  } else {
    copy_into(out, input);
  }
  record.attach_differentiable(out, &gradient_of_numbers);
  return out;
}

// The graph keeps a copy of what is written over.
Tensor nan_to_num_(const Tensor& input, std::optional<double> nan, std::optional<double> posinf,
                   std::optional<double> neginf) {
  const OpFront front(kNanToNumInplace);
  Recorder record = Recorder::overwriting(kNanToNumInplace.name, "NanToNumBackward", {&input});
  record.save(record.is_needed() ? copy_of(input) : Tensor());
  begin_inplace_write(input, kNanToNumInplace.name);
  if (is_floating(input.dtype())) {
    map_floating(input, input.dtype(), numbers_instead(input.dtype(), nan, posinf, neginf), input);
  }
  record.attach(input, &gradient_of_numbers);
  return input;
}

}  // namespace

Tensor signs_of(const Tensor& x) {
  Tensor out = map_new(x, functors::Sign());
  if (Recorder record("SgnBackward", {&x}); record.is_needed()) {
    record.save(x);
    record.save_output(out);
    record.attach_differentiable(
        out, [](BackwardCall& call) { return TensorList{zero_gradient(call.grad())}; });
  }
  return out;
}

Tensor exp(const Tensor& input) {
  return unary_keeping_result<Integers::read_as_float32>(
      kExp, "ExpBackward", input, functors::Exp(),
      Formula([](const Tensor& grad, const Tensor& y) { return formula::product(grad, y); }));
}

Tensor log(const Tensor& input) {
  return unary_keeping_input<Integers::read_as_float32>(
      kLog, "LogBackward", input, functors::Log(),
      Formula([](const Tensor& grad, const Tensor& x) { return formula::quotient(grad, x); }));
}

Tensor sqrt(const Tensor& input) {
  return unary_keeping_result<Integers::read_as_float32>(
      kSqrt, "SqrtBackward", input, functors::Sqrt(),
      Formula([](const Tensor& grad, const Tensor& y) {
        const Tensor twice = formula::times(y, 2.0);
        return formula::quotient(grad, twice);
      }));
}

Tensor abs(const Tensor& input) {
  if (!is_floating(input.dtype())) {
    const OpFront front(kAbs);
    Tensor out = empty_for_loop(input.shape(), {&input}, options_of(input));
    map_elements(out, input.dtype(), functors::Abs(), input);
    return out;
  }
  return unary_keeping_input(kAbs, "AbsBackward", input, functors::Abs(),
                             Formula([](const Tensor& grad, const Tensor& x) {
                               const Tensor sign = signs_of(x);
                               return formula::product(grad, sign);
                             }));
}

std::vector<OpDef> unary_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  return {
      define(kExp, kBoth, &exp, {"input"}),
      define(kLog, kBoth, &log, {"input"}),
      define(kSqrt, kBoth, &sqrt, {"input"}),
      define(kAbs, kBoth, &abs, {"input"}),
      define(kPositive, kBoth, &positive, {"input"}),
      define(kNanToNumInplace, kBoth, &nan_to_num_, {"input", "nan", "posinf", "neginf"}),
      define(kNanToNum, kBoth, &nan_to_num, {"input", "nan", "posinf", "neginf"}),
  };
}

}  // namespace ohm::ops
