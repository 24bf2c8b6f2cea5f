#include "runtime/optim/step_number.h"

#include <fmt/core.h>

#include <cmath>
#include <stdexcept>

#include "runtime/arithmetic/factories.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/pointwise/pointwise_math.h"
#include "runtime/ops/pointwise/pointwise_unary.h"
#include "runtime/ops/pointwise/power.h"

namespace ohm::optim {
namespace {

void let_go(StepNumber& a, StepNumber& b) {
  a = StepNumber();
  b = StepNumber();
}

using Comparison = Tensor (*)(const Tensor&, const ops::TensorOrNumber&);

// `mirrored`: the same with its operands exchanged, where the second alone is a tensor.
bool compared(StepNumber& a, StepNumber& b, Comparison comparison, Comparison mirrored) {
  const Tensor result =
      a.is_tensor() ? comparison(a.tensor(), b.operand()) : mirrored(b.tensor(), a.operand());
  let_go(a, b);
  return is_true(result);
}

bool are_of_host(const StepNumber& a, const StepNumber& b) {
  return !a.is_tensor() && !b.is_tensor();
}

}  // namespace

bool is_true(const Tensor& tensor) { return StepNumber(tensor).read() != 0.0; }

double StepNumber::read() const {
  if (!is_tensor()) return std::get<double>(value_);
  if (tensor().numel() != 1) {
    throw std::invalid_argument(fmt::format(
        "[optimizer] a Tensor with {} elements cannot be converted to Scalar", tensor().numel()));
  }
  return tensor().has_values() ? to_doubles(tensor()).front() : 0.0;
}

ops::TensorOrNumber StepNumber::operand() const {
  if (is_tensor()) return tensor();
  return ops::Number(read());
}

StepNumber plus(StepNumber a, StepNumber b) {
  if (are_of_host(a, b)) return a.read() + b.read();
  StepNumber result =
      a.is_tensor() ? ops::add(a.tensor(), b.operand()) : ops::add(b.tensor(), a.operand());
  let_go(a, b);
  return result;
}

StepNumber minus(StepNumber a, StepNumber b) {
  if (are_of_host(a, b)) return a.read() - b.read();
  StepNumber result =
      a.is_tensor() ? ops::sub(a.tensor(), b.operand()) : ops::rsub(b.tensor(), a.operand());
  let_go(a, b);
  return result;
}

StepNumber times(StepNumber a, StepNumber b) {
  if (are_of_host(a, b)) return a.read() * b.read();
  StepNumber result =
      a.is_tensor() ? ops::mul(a.tensor(), b.operand()) : ops::mul(b.tensor(), a.operand());
  let_go(a, b);
  return result;
}

// A number over a tensor is the number times its reciprocal.
StepNumber quotient(StepNumber a, StepNumber b) {
  if (are_of_host(a, b)) return a.read() / b.read();
  StepNumber result;
  if (a.is_tensor()) {
    result = ops::div(a.tensor(), b.operand());
  } else {
    const Tensor reciprocal = ops::reciprocal(b.tensor());
    result = ops::mul(reciprocal, a.operand());
  }
  let_go(a, b);
  return result;
}

StepNumber negated(StepNumber a) {
  if (!a.is_tensor()) return -a.read();
  StepNumber result = ops::neg(a.tensor());
  a = StepNumber();
  return result;
}

StepNumber magnitude(StepNumber a) {
  if (!a.is_tensor()) return std::abs(a.read());
  StepNumber result = ops::abs(a.tensor());
  a = StepNumber();
  return result;
}

StepNumber squared(StepNumber a) { return ops::pow(a.tensor(), 2.0); }

StepNumber root(StepNumber a) { return ops::sqrt(a.tensor()); }

bool is_less(StepNumber a, StepNumber b) {
  if (are_of_host(a, b)) return a.read() < b.read();
  return compared(a, b, &ops::lt, &ops::gt);
}

bool is_at_most(StepNumber a, StepNumber b) {
  if (are_of_host(a, b)) return a.read() <= b.read();
  return compared(a, b, &ops::le, &ops::ge);
}

bool is_greater(StepNumber a, StepNumber b) {
  if (are_of_host(a, b)) return a.read() > b.read();
  return compared(a, b, &ops::gt, &ops::lt);
}

bool is_at_least(StepNumber a, StepNumber b) {
  if (are_of_host(a, b)) return a.read() >= b.read();
  return compared(a, b, &ops::ge, &ops::le);
}

StepNumber larger(StepNumber a, StepNumber b) {
  StepNumber result = is_greater(b, a) ? b : a;
  let_go(a, b);
  return result;
}

StepNumber smaller(StepNumber a, StepNumber b) {
  StepNumber result = is_less(b, a) ? b : a;
  let_go(a, b);
  return result;
}

}  // namespace ohm::optim
