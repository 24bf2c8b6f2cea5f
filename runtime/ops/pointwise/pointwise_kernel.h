// The common shapes of element-wise ops: one definition of "new tensor, loop, record".
#pragma once

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/recorded_arithmetic.h"
#include "runtime/autograd/recorder.h"
#include "runtime/autograd/variable.h"
#include "runtime/kernels/launch/elementwise.h"
#include "runtime/ops/op_front.h"

namespace ohm::ops {

/// out[i] = fn(input[i]) in a new tensor of the same shape and dtype. Floating dtypes.
template <class F>
Tensor map_new(const Tensor& input, F&& fn) {
  Tensor out = empty_for_loop(input.shape(), {&input}, options_of(input));
  map_floating(out, input.dtype(), fn, input);
  return out;
}

/// out[i] = fn(a[i], b[i]) in a new tensor of the shape and dtype of `a`; `b` has its shape or
/// broadcasts to it. Floating dtypes.
template <class F>
Tensor map_new(const Tensor& a, const Tensor& b, F&& fn) {
  Tensor out = empty_for_loop(a.shape(), {&a, &b}, options_of(a));
  map_floating(out, a.dtype(), fn, a, b);
  return out;
}

/// The same in float32, of whole numbers.
template <class F>
Tensor map_integers(const Tensor& input, F&& fn) {
  Tensor out = empty_for_loop(input.shape(), {&input}, {DType::float32, input.device()});
  map_floating(out, DType::float32, fn, input);
  return out;
}

/// What an op does of whole numbers: where PyTorch has no such op they are refused.
enum class Integers : std::uint8_t { refused, read_as_float32 };

/// Throws unless the dtype is floating.
inline void require_floating(const Tensor& input, const OpInfo& info) {
  if (is_floating(input.dtype())) return;
  throw std::invalid_argument(fmt::format("[{}] not implemented for {}: expected a floating dtype",
                                          info.name, name_of(input.dtype())));
}

/// Throws of masks.
inline void require_numbers(const OpInfo& info, DType dtype) {
  if (dtype != DType::boolean) return;
  throw std::invalid_argument(fmt::format("[{}] not implemented for bool", info.name));
}

/// A gradient that PyTorch computes with two kernels: `factor` of what is kept, a temporary, then
/// `combine` of the gradient and it.
template <class Factor, class Combine>
struct TwoSteps {
  TwoSteps(Factor first, Combine second) : factor(first), combine(second) {}
  Factor factor;
  Combine combine;
};

/// A gradient that PyTorch computes as a formula of whole tensors: `make(grad, kept)`, written with
/// what formula.h has, so that it is recorded under create_graph.
template <class Make>
struct Formula {
  explicit Formula(Make function) : make(function) {}
  Make make;
};
template <class Backward>
inline constexpr bool kIsFormula = false;
template <class Make>
inline constexpr bool kIsFormula<Formula<Make>> = true;

template <class Backward>
Tensor unary_gradient(const Tensor& grad, const Tensor& kept, const Backward& backward) {
  return map_new(grad, kept, backward);
}
template <class Make>
Tensor unary_gradient(const Tensor& grad, const Tensor& kept, const Formula<Make>& formula) {
  return formula.make(grad, kept);
}
template <class Factor, class Combine>
Tensor unary_gradient(const Tensor& grad, const Tensor& kept,
                      const TwoSteps<Factor, Combine>& steps) {
  const Tensor factor = map_new(kept, steps.factor);
  return map_new(grad, factor, steps.combine);
}

/// Attaches the gradient of an op that kept one tensor.
template <class Backward>
void attach_unary(Recorder& record, const Tensor& out, Backward backward) {
  const auto gradient = [backward](BackwardCall& call) {
    return TensorList{unary_gradient(call.grad(), call.saved(0), backward)};
  };
  if constexpr (kIsFormula<Backward>) {
    record.attach_differentiable(out, gradient);
  } else {
    record.attach(out, gradient);
  }
}

/// An op that keeps its result: d/dx in terms of (grad, result), or TwoSteps.
template <Integers Policy = Integers::refused, class Forward, class Backward>
Tensor unary_keeping_result(const OpInfo& info, std::string_view node, const Tensor& given,
                            Forward forward, Backward backward) {
  const OpFront front(info);
  const Tensor input = front.input(given);
  if constexpr (Policy == Integers::read_as_float32) {
    if (!is_differentiable(input.dtype())) return map_integers(input, forward);
  }
  require_floating(input, info);
  Tensor out = map_new(input, forward);
  if (Recorder record(node, {&input}); record.is_needed()) {
    record.save_output(out);
    attach_unary(record, out, backward);
  }
  return out;
}

/// An op that keeps its input: d/dx in terms of (grad, input), or TwoSteps.
template <Integers Policy = Integers::refused, class Forward, class Backward>
Tensor unary_keeping_input(const OpInfo& info, std::string_view node, const Tensor& given,
                           Forward forward, Backward backward) {
  const OpFront front(info);
  const Tensor input = front.input(given);
  if constexpr (Policy == Integers::read_as_float32) {
    if (!is_differentiable(input.dtype())) return map_integers(input, forward);
  }
  require_floating(input, info);
  Recorder record(node, {&input});
  record.save(input);
  Tensor out = map_new(input, forward);
  attach_unary(record, out, backward);
  return out;
}

/// An op that writes its result over its input and keeps it: d/dx in terms of (grad, result).
template <class Forward, class Backward>
Tensor overwritten_keeping_result(const OpInfo& info, std::string_view node, const Tensor& input,
                                  Forward forward, Backward backward) {
  const OpFront front(info);
  require_floating(input, info);
  Recorder record = Recorder::overwriting(info.name, node, {&input});
  begin_inplace_write(input, info.name);
  map_floating(input, input.dtype(), forward, input);
  if (!record.is_needed()) return input;
  record.save_output(input);
  attach_unary(record, input, backward);
  return input;
}

/// The same of an op that keeps a copy of its input: d/dx in terms of (grad, input).
template <class Forward, class Backward>
Tensor overwritten_keeping_input(const OpInfo& info, std::string_view node, const Tensor& input,
                                 Forward forward, Backward backward) {
  const OpFront front(info);
  require_floating(input, info);
  Recorder record = Recorder::overwriting(info.name, node, {&input});
  save_copy(record, input);
  begin_inplace_write(input, info.name);
  map_floating(input, input.dtype(), forward, input);
  if (record.is_needed()) attach_unary(record, input, backward);
  return input;
}

}  // namespace ohm::ops
