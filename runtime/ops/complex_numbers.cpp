#include "runtime/ops/complex_numbers.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/arithmetic/complex_copy.h"
#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/functions.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/complex_kernel.h"
#include "runtime/ops/complex_views.h"
#include "runtime/ops/view.h"
#include "runtime/tensor/complex_parts.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kComplex{"complex"};
constexpr OpInfo kPolar{"polar"};
constexpr OpInfo kAbs{"abs"};
constexpr OpInfo kAngle{.name = "angle", .takes_complex = true};

void require_parts(const OpInfo& info, const Tensor& a, const Tensor& b) {
  require_same_device(a, b, info);
  const bool is_known = a.dtype() == DType::float32 || a.dtype() == DType::float64;
  if (is_known && a.dtype() == b.dtype()) return;
  throw std::invalid_argument(
      fmt::format("[{}] expected both inputs to be float32 or float64 tensors alike, but got {} "
                  "and {}",
                  info.name, name_of(a.dtype()), name_of(b.dtype())));
}

// The gradients of a real and of an imaginary part.
Tensor real_gradient(const Tensor& grad, bool is_recorded) {
  return is_recorded ? real(grad) : part_of(grad, 0);
}
Tensor imaginary_gradient(const Tensor& grad, bool is_recorded) {
  return is_recorded ? imag(resolve_conj(grad)) : part_of(unconjugated(grad), 1);
}

Tensor product_of(const Tensor& a, const Tensor& b) {
  return complex_new({"backward"}, a, b, result_dtype(a, b), ComplexFormula::product);
}

// Both gradients of polar(), whichever is asked for.
TensorList polar_gradients(const Tensor& grad, const Tensor& result) {
  const Tensor conjugate = conjugated_view(grad);
  const auto real_product = [&](const Tensor& factor) {
    return part_of(product_of(conjugate, factor), 0);
  };
  TensorList grads{Tensor(), Tensor()};
  grads[0] = real_product(complex_signs(result));
  grads[1] = real_product(complex_turned(result));
  return grads;
}

// grad · x / |x|² · i, and 0 where x is 0: with the tensors that PyTorch's formula makes.
Tensor angle_gradient(const Tensor& grad, const Tensor& x) {
  constexpr OpInfo kFormula{"backward"};
  const Tensor absolute = complex_absolute(x);
  const Tensor square = map_new(absolute, functors::Square());
  const Tensor product = product_of(grad, x);
  const Tensor quotient =
      complex_new(kFormula, product, square, x.dtype(), ComplexFormula::quotient);
  const Tensor turned = complex_turned(quotient);
  const Tensor zero = zeros({}, options_of(x));
  Tensor is_zero = empty(x.shape(), {DType::boolean, x.device()});
  map_elements(is_zero, absolute.dtype(), functors::Equal(), absolute, 0.0);
  Tensor out = empty_for_loop(x.shape(), {&is_zero, &zero, &turned}, options_of(x));
  copy_into(out, turned);
  const Tensor parts = parts_of(out);
  const Tensor spread = unsqueeze(is_zero, -1);
  map_elements(parts, parts.dtype(), functors::MaskedFill{0.0}, parts, spread);
  return out;
}

std::vector<Sample> turned_numbers() {
  return {{randn({2, 3}, {DType::complex128, Device::cpu()})}};
}

std::vector<Sample> two_parts() {
  const TensorOptions options{DType::float64, Device::cpu()};
  return {{rand({2, 3}, options), rand({2, 3}, options)},
          {rand({2, 3}, options), rand({3}, options)}};
}

}  // namespace

Tensor complex(const Tensor& real, const Tensor& imag) {
  const OpFront front(kComplex);
  require_parts(kComplex, real, imag);
  Tensor out = complex_of(kComplex, real, imag);
  if (Recorder record("ComplexBackward", {&real, &imag}); record.is_needed()) {
    record.attach_differentiable(out, [](BackwardCall& call) {
      TensorList grads{Tensor(), Tensor()};
      if (call.needs(1)) grads[1] = imaginary_gradient(call.grad(), call.is_recorded());
      if (call.needs(0)) grads[0] = real_gradient(call.grad(), call.is_recorded());
      return grads;
    });
  }
  return out;
}

Tensor polar(const Tensor& abs, const Tensor& angle) {
  const OpFront front(kPolar);
  require_parts(kPolar, abs, angle);
  Tensor out = complex_of_polar(kPolar, abs, angle);
  if (Recorder record("PolarBackward", {&abs, &angle}); record.is_needed()) {
    record.save_output(out);
    record.attach(out,
                  [](BackwardCall& call) { return polar_gradients(call.grad(), call.saved(0)); });
  }
  return out;
}

Tensor angle(const Tensor& input) {
  const OpFront front(kAngle);
  if (!is_complex(input.dtype())) {
    throw std::invalid_argument(
        fmt::format("[angle] is for complex tensors here, not for {}", name_of(input.dtype())));
  }
  Recorder record("AngleBackward", {&input});
  record.save(input);
  Tensor out = complex_angle(input);
  record.attach(out, [](BackwardCall& call) {
    return TensorList{angle_gradient(call.grad(), call.saved(0))};
  });
  return out;
}

Tensor abs_of_complex(const Tensor& input) {
  const OpFront front(kAbs);
  Recorder record("AbsBackward", {&input});
  record.save(input);
  Tensor out = complex_absolute(input);
  record.attach(out, [](BackwardCall& call) {
    const Tensor signs = complex_signs(call.saved(0));
    return TensorList{product_of(call.grad(), signs)};
  });
  return out;
}

std::vector<OpDef> complex_number_ops() {
  return {
      define(kComplex, kFunction, &complex, {"real", "imag"}, two_parts),
      define(kPolar, kFunction, &polar, {"abs", "angle"}, two_parts),
      define(kAngle, kFunction | kMethod, &angle, {"input"}, turned_numbers),
  };
}

}  // namespace ohm::ops
