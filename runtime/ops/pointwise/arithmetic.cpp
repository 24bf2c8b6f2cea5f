#include "runtime/ops/pointwise/arithmetic.h"

#include <cmath>

#include "runtime/arithmetic/factories.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/functions.h"
#include "runtime/kernels/functors/generators.h"
#include "runtime/ops/pointwise/division_rules.h"
#include "runtime/ops/pointwise/whole_functors.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kAdd{"add"};
constexpr OpInfo kSub{"sub"};
constexpr OpInfo kRsub{"rsub"};
constexpr OpInfo kMul{"mul"};
constexpr OpInfo kDiv{"div"};
constexpr OpInfo kFloorDivide{"floor_divide"};
constexpr OpInfo kRemainder{"remainder"};
constexpr OpInfo kNeg{"neg"};

Tensor product(const Tensor& a, const TensorOrNumber& b) {
  const DType dtype = result_dtype(a, b);
  return binary_new(kMul, a, b, dtype, functors::Product());
}

Tensor gradient_product(const Tensor& grad, const Tensor& factor) {
  return formula::is_recorded() ? mul(grad, factor) : product(grad, factor);
}

// a + factor · b
Tensor scaled_sum(const OpInfo& info, const Tensor& a, const TensorOrNumber& b, const Term& term) {
  const DType dtype = result_dtype(a, b);
  if (const std::optional<WholeScaledSum> sum = whole_scaled_sum(term, dtype)) {
    return binary_new(info, a, b, dtype, *sum);
  }
  return binary_new(info, a, b, dtype, functors::ScaledSum{term.factor()});
}

Tensor add_scaled(const OpInfo& info, std::string_view node, const Tensor& input,
                  const TensorOrNumber& other, const Term& term) {
  const OpFront front(info);
  Tensor out = scaled_sum(info, input, other, term);
  if (Recorder record(node, {&input, &tensor_of(other)}); record.is_needed()) {
    record.attach_differentiable(out,
                                 [term](BackwardCall& call) { return add_gradients(call, term); });
  }
  return out;
}

// The operands of a product or quotient, as far as their gradients need them, in the order in which
// PyTorch releases them: saved slot 0 is the other one, slot 1 the input.
void save_operands(Recorder& record, const Tensor& input, bool saves_input, const Tensor& other,
                   bool saves_other) {
  record.save(saves_other ? other : Tensor());
  record.save(saves_input ? input : Tensor());
}

Tensor floor_quotient(const Tensor& input, const TensorOrNumber& other, DType dtype) {
  return binary_new(kFloorDivide, input, other, dtype, functors::FloorQuotient());
}

// difference(other, input)
template <class F>
Tensor reversed_difference(const Tensor& input, const TensorOrNumber& other, DType dtype,
                           const F& difference) {
  if (const Tensor* const tensor = std::get_if<Tensor>(&other)) {
    return binary_new(kRsub, *tensor, input, dtype, difference);
  }
  Tensor out = empty_for(input, other, dtype, kRsub);
  map_elements(out, dtype, difference, number_of(other), input);
  return out;
}

// A quotient that is made whole; it has no slope.
Tensor whole_quotient(const Tensor& input, const TensorOrNumber& other, const std::string& mode) {
  if (mode != "floor" && mode != "trunc") {
    throw std::invalid_argument(fmt::format(
        "[div] expected rounding_mode to be one of nil, 'trunc', or 'floor' but found '{}'", mode));
  }
  const OpFront front(kDiv);
  const DType dtype = result_dtype(input, other);
  require_divisible(kDiv, other, dtype);
  Recorder record("DivBackward", {&input, &tensor_of(other)});
  save_operands(record, input, record.needs(1), tensor_of(other), !is_number(other));
  Tensor out = mode == "floor" ? floor_quotient(input, other, dtype)
                               : binary_new(kDiv, input, other, dtype, functors::TruncQuotient());
  record.attach_differentiable(out, [](BackwardCall& call) {
    TensorList grads{Tensor(), Tensor()};
    for (const std::size_t side : {std::size_t{1}, std::size_t{0}}) {
      if (call.needs(side)) grads[side] = zeros_like(call.grad());
    }
    return grads;
  });
  return out;
}

Tensor div_row(const Tensor& input, const TensorOrNumber& other,
               const std::optional<std::string>& rounding_mode) {
  return rounding_mode ? whole_quotient(input, other, *rounding_mode) : div(input, other);
}

}  // namespace

TensorList add_gradients(BackwardCall& call, const Term& term) {
  TensorList grads{call.needs(0) ? call.grad() : Tensor(), Tensor()};
  if (call.needs(1)) {
    const Tensor signed_grad = term.is_subtracted ? formula::negated(call.grad()) : call.grad();
    grads[1] = term.alpha == 1.0 ? signed_grad : formula::times(signed_grad, term.alpha);
  }
  return grads;
}

TensorList mul_gradients(BackwardCall& call, double number, bool is_number) {
  TensorList grads{Tensor(), Tensor()};
  if (call.needs(1)) grads[1] = gradient_product(call.grad(), call.saved(1));
  if (call.needs(0)) {
    grads[0] = is_number ? formula::times(call.grad(), number)
                         : gradient_product(call.grad(), call.saved(0));
  }
  return grads;
}

void attach_refusal(Recorder& record, const Tensor& out, std::string_view op) {
  record.attach(out, [op](BackwardCall&) -> TensorList {
    throw std::invalid_argument(
        fmt::format("[{}] derivative for aten::{} is not implemented", op, op));
  });
}

// A remainder moves with what is divided, and falls as often as the divisor fits into it.
TensorList remainder_gradients_by(BackwardCall& call, const Tensor& times) {
  TensorList grads{Tensor(), Tensor()};
  if (call.needs(1)) {
    const Tensor opposite = formula::negated(call.grad());
    grads[1] = formula::product(opposite, times);
  }
  if (call.needs(0)) grads[0] = call.grad();
  return grads;
}

TensorList remainder_gradients(BackwardCall& call) {
  if (!call.needs(1)) return remainder_gradients_by(call, Tensor());
  const Tensor divisor = call.saved(0);
  return remainder_gradients_by(call, floor_quotient(call.saved(1), divisor, call.grad().dtype()));
}

TensorList div_gradients(BackwardCall& call, double number, bool is_number) {
  TensorList grads{Tensor(), Tensor()};
  if (call.needs(1)) {
    const Tensor other = call.saved(0);
    const Tensor ratio = formula::quotient(call.saved(1), other);
    const Tensor slope = formula::quotient(ratio, other);
    const Tensor opposite = formula::negated(call.grad());
    grads[1] = gradient_product(opposite, slope);
  }
  if (call.needs(0)) {
    grads[0] = is_number ? formula::times(call.grad(), 1.0 / number)
                         : formula::quotient(call.grad(), call.saved(0));
  }
  return grads;
}

Tensor add(const Tensor& input, const TensorOrNumber& other, double alpha) {
  return add_scaled(kAdd, "AddBackward", input, other, {alpha, false});
}

void require_no_mask(std::string_view op, const Tensor& input, const TensorOrNumber& other) {
  const Tensor& second = tensor_of(other);
  const bool second_is_mask = second.defined() && second.dtype() == DType::boolean;
  if (input.dtype() != DType::boolean && !second_is_mask) return;
  throw std::invalid_argument(fmt::format(
      "[{}] Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying "
      "to invert a mask, use the `~` or `logical_not()` operator instead.",
      op));
}

Tensor sub(const Tensor& input, const TensorOrNumber& other, double alpha) {
  require_no_mask(kSub.name, input, other);
  return add_scaled(kSub, "SubBackward", input, other, {alpha, true});
}

Tensor rsub(const Tensor& input, const TensorOrNumber& other, double alpha) {
  const OpFront front(kRsub);
  require_no_mask(kRsub.name, input, other);
  const DType dtype = result_dtype(input, other);
  Tensor out;
  if (const auto difference = whole_scaled_sum(Term{alpha, true}, dtype)) {
    out = reversed_difference(input, other, dtype, *difference);
  } else {
    out = reversed_difference(input, other, dtype, functors::ScaledSum{-alpha});
  }
  if (Recorder record("RsubBackward", {&input, &tensor_of(other)}); record.is_needed()) {
    record.attach_differentiable(out, [alpha](BackwardCall& call) {
      TensorList grads{Tensor(), call.needs(1) ? call.grad() : Tensor()};
      if (call.needs(0)) {
        const Tensor opposite = formula::negated(call.grad());
        grads[0] = alpha == 1.0 ? opposite : formula::times(opposite, alpha);
      }
      return grads;
    });
  }
  return out;
}

Tensor mul(const Tensor& input, const TensorOrNumber& other) {
  const OpFront front(kMul);
  Recorder record("MulBackward", {&input, &tensor_of(other)});
  save_operands(record, input, record.needs(1), tensor_of(other), record.needs(0));
  Tensor out = product(input, other);
  record.attach_differentiable(
      out, [number = number_of(other), scalar = is_number(other)](BackwardCall& call) {
        return mul_gradients(call, number, scalar);
      });
  return out;
}

Tensor div(const Tensor& input, const TensorOrNumber& other) {
  const OpFront front(kDiv);
  const DType promoted = result_dtype(input, other);
  const DType dtype = is_differentiable(promoted) ? promoted : DType::float32;
  Recorder record("DivBackward", {&input, &tensor_of(other)});
  save_operands(record, input, record.needs(1), tensor_of(other), !is_number(other));
  Tensor out = binary_new_floating(kDiv, input, other, dtype, functors::Quotient());
  record.attach_differentiable(
      out, [number = number_of(other), scalar = is_number(other)](BackwardCall& call) {
        return div_gradients(call, number, scalar);
      });
  return out;
}

Tensor floor_divide(const Tensor& input, const TensorOrNumber& other) {
  const OpFront front(kFloorDivide);
  const DType dtype = result_dtype(input, other);
  require_divisible(kFloorDivide, other, dtype);
  Tensor out = floor_quotient(input, other, dtype);
  if (Recorder record("NotImplemented", {&input, &tensor_of(other)}); record.is_needed()) {
    attach_refusal(record, out, kFloorDivide.name);
  }
  return out;
}

Tensor rfloor_divide(const Tensor& input, Number number) {
  const OpFront front(kFloorDivide);
  const DType dtype = result_dtype(input, number);
  require_divisible(kFloorDivide, input, dtype);
  Tensor out = empty_for(input, number, dtype, kFloorDivide);
  map_elements(out, dtype, functors::FloorQuotient(), number.value, input);
  if (Recorder record("NotImplemented", {&input}); record.is_needed()) {
    attach_refusal(record, out, kFloorDivide.name);
  }
  return out;
}

Tensor remainder(const Tensor& input, const TensorOrNumber& other) {
  const OpFront front(kRemainder);
  const DType dtype = result_dtype(input, other);
  forbid_booleans(dtype);
  require_divisible(kRemainder, other, dtype);
  Recorder record("RemainderBackward", {&input, &tensor_of(other)});
  save_operands(record, input, record.needs(1), tensor_of(other), record.needs(1));
  Tensor out = binary_new(kRemainder, input, other, dtype, functors::Remainder());
  record.attach_differentiable(out, &remainder_gradients);
  return out;
}

Tensor rremainder(const Tensor& input, Number number) {
  const OpFront front(kRemainder);
  const DType dtype = result_dtype(input, number);
  forbid_booleans(dtype);
  require_divisible(kRemainder, input, dtype);
  Tensor out = empty_for(input, number, dtype, kRemainder);
  map_elements(out, dtype, functors::Remainder(), number.value, input);
  if (Recorder record("NotImplemented", {&input}); record.is_needed()) {
    attach_refusal(record, out, kRemainder.name);
  }
  return out;
}

Tensor neg(const Tensor& input) {
  const OpFront front(kNeg);
  if (input.dtype() == DType::boolean) {
    throw std::invalid_argument(
        "[neg] Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
        "invert a mask, use the `~` or `logical_not()` operator instead.");
  }
  Tensor out = empty_for_loop(input.shape(), {&input}, options_of(input));
  map_elements(out, input.dtype(), functors::Neg(), input);
  if (Recorder record("NegBackward", {&input}); record.is_needed()) {
    record.attach_differentiable(
        out, [](BackwardCall& call) { return TensorList{formula::negated(call.grad())}; });
  }
  return out;
}

std::vector<OpDef> arithmetic_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  const ParamName alpha{"alpha", Value(1.0)};
  return {
      define(kAdd, kBoth, &add, {"input", "other", alpha}),
      define(kSub, kBoth, &sub, {"input", "other", alpha}),
      define(kRsub, kBoth, &rsub, {"input", "other", alpha}),
      define(kMul, kBoth, &mul, {"input", "other"}),
      define(kDiv, kBoth, &div_row, {"input", "other", "rounding_mode"}),
      define(kFloorDivide, kBoth, &floor_divide, {"input", "other"}),
      define(kRemainder, kBoth, &remainder, {"input", "other"}),
  };
}

std::vector<OpDef> negation_ops() { return {define(kNeg, kFunction | kMethod, &neg, {"input"})}; }

}  // namespace ohm::ops

namespace ohm::ops::formula {
namespace {

// As combined() of their promoted dtype.
template <class F>
Tensor combined_in(DType dtype, const Tensor& a, const TensorOrNumber& b, F fn) {
  constexpr OpInfo kFormula{"backward"};
  return binary_new_floating(kFormula, a, b, dtype, fn);
}

// Whole numbers beside whole numbers stay whole: they are the op's.
bool is_of_op(DType dtype) { return is_recorded() || !is_differentiable(dtype); }
Number beside(const Tensor& tensor, double number) {
  const bool is_whole = !is_differentiable(tensor.dtype()) && number == std::trunc(number);
  return is_whole ? Number(static_cast<std::int64_t>(number)) : Number(number);
}

}  // namespace

Tensor times(const Tensor& tensor, double factor) {
  if (is_of_op(tensor.dtype())) return mul(tensor, beside(tensor, factor));
  return map_new(tensor, functors::Scaled{factor});
}
Tensor plus(const Tensor& tensor, double number) {
  if (is_of_op(tensor.dtype())) return add(tensor, beside(tensor, number));
  return map_new(tensor, functors::Shifted{number});
}
Tensor negated(const Tensor& tensor) { return mapped(tensor, &neg, functors::Neg()); }
Tensor product(const Tensor& a, const Tensor& b) {
  const DType dtype = result_dtype(a, b);
  if (is_of_op(dtype)) return mul(a, b);
  return combined_in(dtype, a, b, functors::Product());
}
Tensor quotient(const Tensor& a, const Tensor& b) {
  const DType dtype = result_dtype(a, b);
  if (is_of_op(dtype)) return div(a, b);
  return combined_in(dtype, a, b, functors::Quotient());
}
Tensor sum(const Tensor& a, const Tensor& b) {
  const DType dtype = result_dtype(a, b);
  if (is_of_op(dtype)) return add(a, b);
  return combined_in(dtype, a, b, functors::Sum());
}
Tensor difference(const Tensor& a, const Tensor& b) {
  const DType dtype = result_dtype(a, b);
  if (is_of_op(dtype)) return sub(a, b);
  return combined_in(dtype, a, b, functors::Difference());
}

}  // namespace ohm::ops::formula
