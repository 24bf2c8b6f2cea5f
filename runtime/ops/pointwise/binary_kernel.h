// The common part of ops of two operands: devices checked, dtypes promoted, shapes broadcast, one
// loop.
#pragma once

#include "runtime/ops/pointwise/pointwise_kernel.h"
#include "runtime/ops/value.h"

namespace ohm::ops {

/// The tensor that an operand is; an undefined one for a number.
const Tensor& tensor_of(const TensorOrNumber& operand);

inline bool is_number(const TensorOrNumber& operand) {
  return std::holds_alternative<Number>(operand);
}
/// The number that an operand is; 0 for a tensor.
inline double number_of(const TensorOrNumber& operand) {
  const Number* number = std::get_if<Number>(&operand);
  return number == nullptr ? 0.0 : number->value;
}

/// The dtype that PyTorch computes with: the widest of the tensors with dimensions, unless one of
/// the others is of a higher kind. At least one operand.
DType promoted_dtype(std::initializer_list<const Tensor*> operands);
/// Whether what is of one dtype may be written over a tensor of another one.
bool can_hold(DType target, DType dtype);

/// The dtype of `input op other`.
DType result_dtype(const Tensor& input, const TensorOrNumber& other);

/// Throws std::invalid_argument naming both devices when they differ and neither operand is a
/// 0-dim CPU tensor.
void require_same_device(const Tensor& a, const Tensor& b, const OpInfo& info);

/// The same where a 0-dim CPU tensor will not do.
void require_one_device(const Tensor& a, const Tensor& b, const OpInfo& info);

/// Throws std::invalid_argument unless both are on one device and of one floating dtype.
void require_alike(const OpInfo& info, const Tensor& a, const Tensor& b);

/// Uninitialised, of the broadcast shape, laid out by both operands, on the device of the operand
/// that is not a 0-dim CPU tensor.
Tensor empty_for(const Tensor& input, const TensorOrNumber& other, DType dtype, const OpInfo& info);

/// An operand as a loop reads it.
inline ElementwiseInput input_of(const TensorOrNumber& operand) {
  if (const Tensor* tensor = std::get_if<Tensor>(&operand)) return *tensor;
  return std::get<Number>(operand).value;
}

/// fn over both operands in a new tensor of their promoted dtype.
template <class F>
Tensor binary_new(const OpInfo& info, const Tensor& input, const TensorOrNumber& other, DType dtype,
                  F&& fn) {
  Tensor out = empty_for(input, other, dtype, info);
  map_elements(out, dtype, fn, input, input_of(other));
  return out;
}

/// As binary_new for floating dtypes alone.
template <class F>
Tensor binary_new_floating(const OpInfo& info, const Tensor& input, const TensorOrNumber& other,
                           DType dtype, F&& fn) {
  Tensor out = empty_for(input, other, dtype, info);
  map_floating(out, dtype, fn, input, input_of(other));
  return out;
}

}  // namespace ohm::ops
