// A number of an optimizer's formula as Python has it: of the host, or a tensor of one element on
// the parameters' device.
//
// What one tensor takes part in is a tensor, with the temporaries that Python makes on its way. A
// comparison of tensors that lack values is false, as on a virtual GPU under PyTorch. Operands are
// given by value: what a formula is done with goes as soon as the result is there.
#pragma once

#include <utility>
#include <variant>

#include "runtime/ops/value.h"
#include "runtime/tensor/tensor.h"

namespace ohm::optim {

class StepNumber {
 public:
  StepNumber(double number = 0.0) : value_(number) {}       // NOLINT: formulas mix both
  StepNumber(Tensor tensor) : value_(std::move(tensor)) {}  // NOLINT
  bool is_tensor() const { return std::holds_alternative<Tensor>(value_); }
  /// Pre-condition: it is one.
  const Tensor& tensor() const { return std::get<Tensor>(value_); }
  /// On the host; of a tensor without values 0. Throws std::invalid_argument for a tensor that is
  /// no single number, such as one of a state that was loaded.
  double read() const;
  /// As an operand of an op.
  ops::TensorOrNumber operand() const;

 private:
  std::variant<double, Tensor> value_;
};

StepNumber plus(StepNumber a, StepNumber b);
StepNumber minus(StepNumber a, StepNumber b);
StepNumber times(StepNumber a, StepNumber b);
StepNumber quotient(StepNumber a, StepNumber b);
StepNumber negated(StepNumber a);
StepNumber magnitude(StepNumber a);
/// Pre-condition of both: a tensor.
StepNumber squared(StepNumber a);
StepNumber root(StepNumber a);

bool is_less(StepNumber a, StepNumber b);
bool is_at_most(StepNumber a, StepNumber b);
bool is_greater(StepNumber a, StepNumber b);
bool is_at_least(StepNumber a, StepNumber b);

/// Python's max() and min(): the first of those that are alike.
StepNumber larger(StepNumber a, StepNumber b);
StepNumber smaller(StepNumber a, StepNumber b);

/// Whether a tensor of one element holds something else than 0; false where it lacks values.
bool is_true(const Tensor& tensor);

}  // namespace ohm::optim
