#include "runtime/ops/whole_division.h"

#include "runtime/arithmetic/copy.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/functions.h"
#include "runtime/kernels/functors/special.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/binary_kernel.h"
#include "runtime/ops/division_rules.h"
#include "runtime/ops/formula.h"
#include "runtime/ops/inplace_front.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kFloorDivideInplace{"floor_divide_"};
constexpr OpInfo kRemainderInplace{"remainder_"};
constexpr OpInfo kFmodInplace{"fmod_"};

// `write` writes the remainders of their promoted dtype over the input.
template <class Write>
Tensor remainder_over(const OpInfo& info, std::string_view node, const Tensor& input,
                      const TensorOrNumber& other, Write write,
                      TensorList (*gradients)(BackwardCall&)) {
  const DType dtype = result_dtype(input, other);
  require_writable(info, input, other, dtype);
  Recorder record = Recorder::overwriting(info.name, node, {&input, &tensor_of(other)});
  const bool keeps = record.needs(1);
  record.save(keeps ? tensor_of(other) : Tensor());
  record.save(keeps ? copy_of(input) : Tensor());
  begin_inplace_write(input, info.name);
  write(dtype);
  record.attach(input, gradients);
  return input;
}

Tensor remainder_(const Tensor& input, const TensorOrNumber& other) {
  const OpFront front(kRemainderInplace);
  const DType dtype = result_dtype(input, other);
  forbid_booleans(dtype);
  require_divisible(kRemainderInplace, other, dtype);
  const auto write = [&](DType promoted) {
    map_elements(input, promoted, functors::Remainder(), input, input_of(other));
  };
  return remainder_over(kRemainderInplace, "RemainderBackward", input, other, write,
                        &remainder_gradients);
}

Tensor fmod_(const Tensor& input, const TensorOrNumber& other) {
  const OpFront front(kFmodInplace);
  require_floating(input, kFmodInplace);
  const auto write = [&](DType promoted) {
    map_floating(input, promoted, functors::Fmod(), input, input_of(other));
  };
  return remainder_over(kFmodInplace, "FmodBackward", input, other, write, &fmod_gradients);
}

Tensor floor_divide_(const Tensor& input, const TensorOrNumber& other) {
  const OpFront front(kFloorDivideInplace);
  const DType dtype = result_dtype(input, other);
  require_divisible(kFloorDivideInplace, other, dtype);
  require_writable(kFloorDivideInplace, input, other, dtype);
  Recorder record = Recorder::overwriting(kFloorDivideInplace.name, "NotImplemented",
                                          {&input, &tensor_of(other)});
  begin_inplace_write(input, kFloorDivideInplace.name);
  map_elements(input, dtype, functors::FloorQuotient(), input, input_of(other));
  attach_refusal(record, input, kFloorDivideInplace.name);
  return input;
}

}  // namespace

TensorList fmod_gradients(BackwardCall& call) {
  if (!call.needs(1)) return remainder_gradients_by(call, Tensor());
  return remainder_gradients_by(
      call, formula::combined(call.saved(1), call.saved(0), functors::TruncQuotient()));
}

std::vector<OpDef> whole_division_ops() {
  return {
      define(kFloorDivideInplace, kMethod, &floor_divide_, {"input", "other"}),
      define(kRemainderInplace, kMethod, &remainder_, {"input", "other"}),
      define(kFmodInplace, kMethod, &fmod_, {"input", "other"}),
  };
}

}  // namespace ohm::ops
