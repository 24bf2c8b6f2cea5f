// Arithmetic of two tensors, with broadcasting and dtype promotion, and what gradients are written
// in of it.
//
// Every op makes one new tensor of the broadcast shape. Operands must be on one device; a 0-dim CPU
// tensor goes with any. A number takes the tensor's dtype, except that a fraction makes an integer
// tensor float32. Errors: std::invalid_argument naming op and shapes.
#pragma once

#include <vector>

#include "runtime/ops/op.h"
#include "runtime/ops/pointwise/formula.h"

namespace ohm::ops {

/// input + alpha · other. Saves nothing; both gradients are the incoming one.
Tensor add(const Tensor& input, const TensorOrNumber& other, double alpha = 1.0);
/// Throws std::invalid_argument of masks, as rsub() and sub_() do.
Tensor sub(const Tensor& input, const TensorOrNumber& other, double alpha = 1.0);
void require_no_mask(std::string_view op, const Tensor& input, const TensorOrNumber& other);
/// other − alpha · input.
Tensor rsub(const Tensor& input, const TensorOrNumber& other, double alpha = 1.0);
/// Saves each operand only where the other wants a gradient.
Tensor mul(const Tensor& input, const TensorOrNumber& other);
/// True division: integers give float32.
Tensor div(const Tensor& input, const TensorOrNumber& other);
Tensor neg(const Tensor& input);

/// The largest whole number that is not above input / other. It is recorded, but has no gradient:
/// backward throws std::invalid_argument. Integers on the host cannot be divided by 0.
Tensor floor_divide(const Tensor& input, const TensorOrNumber& other);
/// number // input
Tensor rfloor_divide(const Tensor& input, Number number);
/// What a division with floor_divide leaves of the input, with the sign of the divisor. Saves both
/// tensors where the divisor wants a gradient.
Tensor remainder(const Tensor& input, const TensorOrNumber& other);
/// number % input. Without a gradient, as floor_divide.
Tensor rremainder(const Tensor& input, Number number);

std::vector<OpDef> arithmetic_ops();
/// The row of neg, which listings show with the functions of one tensor.
std::vector<OpDef> negation_ops();

// ---- gradients, which the in-place forms share --------------------------------------------------

/// input + alpha · other, or input − alpha · other.
struct Term {
  double alpha = 1.0;
  bool is_subtracted = false;

  double factor() const { return is_subtracted ? -alpha : alpha; }
};

/// The gradient of `input` is the incoming one itself.
TensorList add_gradients(BackwardCall& call, const Term& term);

/// Of a product and a quotient, which saved the other operand in slot 0 and the input in slot 1;
/// `number` is the other operand where that is one.
TensorList mul_gradients(BackwardCall& call, double number, bool is_number);
TensorList div_gradients(BackwardCall& call, double number, bool is_number);

/// Of an op that PyTorch records, and has no derivative of: backward throws std::invalid_argument.
void attach_refusal(Recorder& record, const Tensor& out, std::string_view op);

/// Of x and y in the remainder with the sign of y. Where y needs one, y is saved, then x.
TensorList remainder_gradients(BackwardCall& call);
/// The same where the divisor fits `times` times into what is divided.
TensorList remainder_gradients_by(BackwardCall& call, const Tensor& times);

}  // namespace ohm::ops

// See formula.h.
namespace ohm::ops::formula {

Tensor times(const Tensor& tensor, double factor);
Tensor plus(const Tensor& tensor, double number);
Tensor negated(const Tensor& tensor);
Tensor product(const Tensor& a, const Tensor& b);
Tensor quotient(const Tensor& a, const Tensor& b);
Tensor sum(const Tensor& a, const Tensor& b);
Tensor difference(const Tensor& a, const Tensor& b);

}  // namespace ohm::ops::formula
