#include "runtime/ops/pointwise/choice.h"

#include <cmath>

#include "runtime/arithmetic/copy.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/indexing/indexing.h"
#include "runtime/ops/indexing/nonzero.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kMaximum{"maximum"};
constexpr OpInfo kMinimum{"minimum"};
constexpr OpInfo kWhere{"where"};

// The gradient of the larger (or smaller) of two: half of it where both are equal, nothing where
// the other one was chosen.
template <class Pick>
Tensor chosen_gradient(const Tensor& grad, const Tensor& first, const Tensor& second,
                       bool is_of_first, Pick is_second_chosen) {
  const Tensor& mine = is_of_first ? first : second;
  const Tensor& theirs = is_of_first ? second : first;
  const auto make_mask = [&](auto is_chosen) {
    Tensor mask = empty_for_loop(grad.shape(), {&first, &second}, {DType::boolean, grad.device()});
    map_floating(mask, result_dtype(mine, theirs), is_chosen, mine, theirs);
    return mask;
  };
  const bool are_masks_first = Context::current().rules.chosen_gradients_make_masks_first;
  const Tensor early = are_masks_first ? make_mask(is_second_chosen) : Tensor();
  const Tensor half = div(grad, 2.0);
  const Tensor is_equal = make_mask(functors::Equal());
  Tensor out = where(is_equal, half, grad);
  const Tensor late = are_masks_first ? Tensor() : make_mask(is_second_chosen);
  masked_fill_(out, are_masks_first ? early : late, 0.0);
  return out;
}

// max and min: the gradient goes to the chosen operand, half to each where they are equal.
template <class Chosen, class Pick>
Tensor pick_one(const OpInfo& info, std::string_view node, const Tensor& input, const Tensor& other,
                Chosen chosen, Pick is_second_chosen) {
  const OpFront front(info);
  Recorder record(node, {&input, &other});
  record.save(other);
  record.save(input);
  Tensor out = binary_new(info, input, other, result_dtype(input, other), chosen);
  record.attach_differentiable(out, [=](BackwardCall& call) {
    const Tensor a = call.saved(1);
    const Tensor b = call.saved(0);
    TensorList grads{Tensor(), Tensor()};
    for (const bool is_of_first : {false, true}) {
      const std::size_t side = is_of_first ? 0 : 1;
      if (!call.needs(side)) continue;
      grads[side] = chosen_gradient(call.grad(), a, b, is_of_first, is_second_chosen);
    }
    return grads;
  });
  return out;
}

// One number on the device, of the dtype that it and the tensor have together.
Tensor number_beside(Number number, const Tensor& tensor) {
  return full({}, number.value, {result_dtype(tensor, number), tensor.device()});
}

// Of two numbers without a tensor.
DType dtype_of_numbers(Number first, Number second) {
  return first.is_integer && second.is_integer ? DType::int64 : DType::float32;
}

// Three in one: of two tensors, of a number and a tensor, and of a condition alone.
Value where_row(const Tensor& condition, const std::optional<TensorOrNumber>& input,
                const std::optional<TensorOrNumber>& other) {
  if (!input && !other) return nonzero_by_dim(condition);
  if (!input || !other) {
    throw std::invalid_argument("[where] expected a value for both answers, or for none");
  }
  return where_of(condition, *input, *other);
}

}  // namespace

Tensor maximum(const Tensor& input, const Tensor& other) {
  return pick_one(kMaximum, "MaximumBackward", input, other, functors::Maximum(), functors::Less());
}

Tensor minimum(const Tensor& input, const Tensor& other) {
  return pick_one(kMinimum, "MinimumBackward", input, other, functors::Minimum(),
                  functors::Greater());
}

Tensor where(const Tensor& condition, const Tensor& input, const Tensor& other) {
  const OpFront front(kWhere);
  if (condition.dtype() != DType::boolean) {
    throw std::invalid_argument(fmt::format(
        "[where] expected condition to be a bool tensor, got {}", name_of(condition.dtype())));
  }
  require_same_device(condition, input, kWhere);
  require_same_device(input, other, kWhere);
  Device device = condition.device();
  for (const Tensor* operand : {&input, &other}) {
    if (device.is_cpu()) device = operand->device();
  }
  const DType dtype = result_dtype(input, other);
  const Shape pair = broadcast_shapes(input.shape(), other.shape(), "where");
  Recorder record("WhereBackward", {&input, &other});
  record.save(condition);
  // The kernel takes two tensors of one dtype and device: the narrower one is converted first, a
  // number of the host is copied.
  const Tensor narrow_true = cast(input, dtype);
  const Tensor narrow_false = cast(other, dtype);
  const Tensor mask = transfer(condition, device);
  const Tensor when_true = transfer(narrow_true, device);
  const Tensor when_false = transfer(narrow_false, device);
  const Shape shape = broadcast_shapes(condition.shape(), pair, "where");
  Tensor out = empty_for_loop(shape, {&mask, &when_true, &when_false}, {dtype, device});
  map_elements(out, dtype, functors::Where(), mask, when_true, when_false);
  record.attach_differentiable(out, [](BackwardCall& call) {
    const Tensor chosen = call.saved(0);
    const auto share = [&](bool mine) {
      const Tensor zero = full({}, 0.0, options_of(call.grad()));
      if (call.is_recorded()) {
        return mine ? where(chosen, call.grad(), zero) : where(chosen, zero, call.grad());
      }
      Tensor out = empty_for_loop(call.grad().shape(), {&chosen, &call.grad(), &zero},
                                  options_of(call.grad()));
      map_floating(out, out.dtype(), functors::Kept{mine}, call.grad(), chosen);
      return out;
    };
    TensorList grads{Tensor(), Tensor()};
    if (call.needs(1)) grads[1] = share(false);
    if (call.needs(0)) grads[0] = share(true);
    return grads;
  });
  return out;
}

Tensor where_of(const Tensor& condition, const TensorOrNumber& input, const TensorOrNumber& other) {
  const OpFront front(kWhere);
  const Tensor& when_true = tensor_of(input);
  const Tensor& when_false = tensor_of(other);
  if (when_true.defined() && when_false.defined()) return where(condition, when_true, when_false);
  if (when_true.defined()) {
    const Tensor number = number_beside(std::get<Number>(other), when_true);
    return where(condition, to_dtype(when_true, number.dtype()), number);
  }
  if (when_false.defined()) {
    const Tensor number = number_beside(std::get<Number>(input), when_false);
    return where(condition, number, to_dtype(when_false, number.dtype()));
  }
  const DType dtype = dtype_of_numbers(std::get<Number>(input), std::get<Number>(other));
  const Tensor number = full({}, number_of(other), {dtype, condition.device()});
  return where(condition, full({}, number_of(input), {dtype, condition.device()}), number);
}

std::vector<OpDef> choice_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  return {
      define(kMaximum, kBoth, &maximum, {"input", "other"}),
      define(kMinimum, kBoth, &minimum, {"input", "other"}),
      define(kWhere, kFunction, &where_row, {"condition", "input", "other"}),
  };
}

}  // namespace ohm::ops
