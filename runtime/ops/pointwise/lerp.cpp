#include "runtime/ops/pointwise/lerp.h"

#include <algorithm>
#include <utility>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/whole_scalars.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/functions.h"
#include "runtime/kernels/functors/update.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/pointwise/formula.h"
#include "runtime/ops/pointwise/pointwise_math.h"
#include "runtime/ops/pointwise/whole_functors.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kLerp{"lerp"};
constexpr OpInfo kAddcmul{"addcmul", CastPolicy::widest};
constexpr OpInfo kAddcdiv{"addcdiv", CastPolicy::widest};
constexpr OpInfo kLerpInplace{"lerp_"};
constexpr OpInfo kAddcmulInplace{"addcmul_"};
constexpr OpInfo kAddcdivInplace{"addcdiv_"};
constexpr OpInfo kAtan2{"atan2", CastPolicy::widest};

// autocast casts to the widest dtype among all of them.
std::vector<Tensor> as_wide_as_the_widest(const OpFront& front, const OpInfo& info,
                                          std::vector<Tensor> tensors) {
  for (const Tensor& tensor : tensors) require_same_device(tensors[0], tensor, info);
  return front.widest(std::move(tensors));
}

void require_end(const OpInfo& info, const Tensor& input, const Tensor& end) {
  require_alike(info, input, end);
  require_one_device(input, end, info);
}

template <class F>
Tensor ternary_new(const OpInfo& info, const Tensor& a, const Tensor& b, const Tensor& c, F&& fn) {
  const Shape shape = broadcast_shapes(
      a.shape(), broadcast_shapes(b.shape(), c.shape(), info.name.data()), info.name.data());
  const DType dtype = promoted_dtype({&a, &b, &c});
  Tensor out = empty_for_loop(shape, {&a, &b, &c}, {dtype, a.device()});
  require_numbers(info, dtype);
  map_elements(out, dtype, fn, a, b, c);
  return out;
}

struct LerpGradients {
  double weight;

  TensorList operator()(BackwardCall& call) const {
    TensorList grads{Tensor(), Tensor()};
    if (call.needs(1)) grads[1] = formula::times(call.grad(), weight);
    if (call.needs(0)) grads[0] = formula::times(call.grad(), 1.0 - weight);
    return grads;
  }
};

// input + weight · (end − input)
Tensor lerp(const Tensor& input, const Tensor& end, double weight) {
  const OpFront front(kLerp);
  require_end(kLerp, input, end);
  Tensor out = formula::combined(input, end, functors::Lerp{weight});
  if (Recorder record("LerpBackward", {&input, &end}); record.is_needed()) {
    record.attach(out, LerpGradients{weight});
  }
  return out;
}

// 1 − share
Tensor one_less(const Tensor& weight) {
  if (formula::is_recorded()) return rsub(weight, 1.0);
  Tensor out = empty_for_loop(weight.shape(), {&weight}, options_of(weight));
  map_floating(out, out.dtype(), functors::Difference(), 1.0, weight);
  return out;
}

// The same by a share for each element. What only the share's gradient needs is kept for it alone.
struct LerpByGradients {
  TensorList operator()(BackwardCall& call) const {
    TensorList grads{Tensor(), Tensor(), Tensor()};
    const Tensor weight = call.saved(2);
    if (call.needs(1)) grads[1] = formula::product(call.grad(), weight);
    if (call.needs(0)) {
      const Tensor rest = one_less(weight);
      grads[0] = formula::product(call.grad(), rest);
    }
    if (call.needs(2)) {
      const Tensor distance = formula::difference(call.saved(0), call.saved(1));
      grads[2] = formula::product(call.grad(), distance);
    }
    return grads;
  }
};

Tensor lerp(const Tensor& input, const Tensor& end, const Tensor& weight) {
  const OpFront front(kLerp);
  require_end(kLerp, input, end);
  require_alike(kLerp, input, weight);
  Recorder record("LerpBackward", {&input, &end, &weight});
  record.save(record.needs(2) ? end : Tensor());
  record.save(record.needs(2) ? input : Tensor());
  record.save(weight);
  Tensor out = ternary_new(kLerp, input, end, weight, functors::LerpBy());
  record.attach_differentiable(out, LerpByGradients());
  return out;
}

Tensor lerp_row(const Tensor& input, const Tensor& end, const TensorOrNumber& weight) {
  if (const Tensor* share = std::get_if<Tensor>(&weight)) return lerp(input, end, *share);
  return lerp(input, end, number_of(weight));
}

// The operands of an op that writes over the first of them, which has the shape of the result.
void require_overwritable(const OpInfo& info, const Tensor& input,
                          std::initializer_list<const Tensor*> others) {
  require_numbers(info, input.dtype());
  for (const Tensor* other : others) {
    require_same_device(input, *other, info);
    if (!can_hold(input.dtype(), other->dtype())) {
      throw std::invalid_argument(
          fmt::format("[{}] result type {} can't be cast to the desired output type {}", info.name,
                      name_of(other->dtype()), name_of(input.dtype())));
    }
    if (!(broadcast_shapes(input.shape(), other->shape(), info.name.data()) == input.shape())) {
      throw std::invalid_argument(
          fmt::format("[{}] output with shape {} doesn't match the broadcast shape of {}",
                      info.name, input.shape().str(), other->shape().str()));
    }
    require_no_partial_overlap(input, *other, info.name);
  }
}

}  // namespace

Tensor lerp_by_number_(const Tensor& input, const Tensor& end, double weight) {
  const OpFront front(kLerpInplace);
  require_end(kLerpInplace, input, end);
  require_overwritable(kLerpInplace, input, {&end});
  Recorder record = Recorder::overwriting(kLerpInplace.name, "LerpBackward", {&input, &end});
  begin_inplace_write(input, kLerpInplace.name);
  map_floating(input, input.dtype(), functors::Lerp{weight}, input, end);
  if (record.is_needed()) record.attach(input, LerpGradients{weight});
  return input;
}

namespace {

Tensor lerp_inplace_row(const Tensor& input, const Tensor& end, const TensorOrNumber& weight) {
  if (const Tensor* share = std::get_if<Tensor>(&weight)) return lerp_(input, end, *share);
  return lerp_by_number_(input, end, number_of(weight));
}

struct AddcmulGradients {
  double value;

  TensorList operator()(BackwardCall& call) const {
    const auto share = [&](const Tensor& factor) {
      const Tensor scaled = formula::times(factor, value);
      return formula::product(call.grad(), scaled);
    };
    TensorList grads{call.needs(0) ? call.grad() : Tensor(), Tensor(), Tensor()};
    if (call.needs(1)) grads[1] = share(call.saved(1));
    if (call.needs(2)) grads[2] = share(call.saved(0));
    return grads;
  }
};

// input + value · a · b
Tensor addcmul(const Tensor& given, const Tensor& first, const Tensor& second, double value) {
  const OpFront front(kAddcmul);
  const std::vector<Tensor> all = as_wide_as_the_widest(front, kAddcmul, {given, first, second});
  require_one_device(all[0], all[1], kAddcmul);
  Recorder record("AddcmulBackward", {&all[0], &all[1], &all[2]});
  record.save(record.needs(2) ? all[1] : Tensor());
  record.save(record.needs(1) ? all[2] : Tensor());
  const auto sum = [&](const auto& function) {
    return ternary_new(kAddcmul, all[0], all[1], all[2], function);
  };
  const std::optional<std::int64_t> whole = whole_scalar(value, all[0].dtype());
  Tensor out = whole ? sum(WholeAddcmul{*whole}) : sum(functors::Addcmul{value});
  record.attach(out, AddcmulGradients{value});
  return out;
}

Tensor addcmul_(const Tensor& input, const Tensor& first, const Tensor& second, double value) {
  const OpFront front(kAddcmulInplace);
  require_overwritable(kAddcmulInplace, input, {&first, &second});
  require_one_device(input, first, kAddcmulInplace);
  Recorder record =
      Recorder::overwriting(kAddcmulInplace.name, "AddcmulBackward", {&input, &first, &second});
  record.save(record.needs(2) ? first : Tensor());
  record.save(record.needs(1) ? second : Tensor());
  begin_inplace_write(input, kAddcmulInplace.name);
  if (const std::optional<std::int64_t> whole = whole_scalar(value, input.dtype())) {
    map_elements(input, input.dtype(), WholeAddcmul{*whole}, input, first, second);
  } else {
    map_elements(input, input.dtype(), functors::Addcmul{value}, input, first, second);
  }
  if (record.is_needed()) record.attach(input, AddcmulGradients{value});
  return input;
}

// Of input + value · a / b, which saved a in slot 0 and b in slot 1.
struct AddcdivGradients {
  double value;

  TensorList operator()(BackwardCall& call) const {
    const Tensor b = call.saved(1);
    TensorList grads{call.needs(0) ? call.grad() : Tensor(), Tensor(), Tensor()};
    if (call.needs(1)) {
      const functors::NumberOver over{value};
      const Tensor slope = is_floating(b.dtype()) ? map_new(b, over) : map_integers(b, over);
      grads[1] = formula::product(call.grad(), slope);
    }
    if (call.needs(2)) {
      const Tensor square = formula::product(b, b);
      const Tensor scaled = formula::times(call.saved(0), value);
      const Tensor slope = formula::quotient(scaled, square);
      const Tensor negated = formula::times(call.grad(), -1.0);
      grads[2] = formula::product(negated, slope);
    }
    return grads;
  }
};

void require_no_whole_division(const OpInfo& info, const Tensor& first, const Tensor& second) {
  if (is_differentiable(first.dtype()) || is_differentiable(second.dtype())) return;
  throw std::invalid_argument(
      fmt::format("[{}] Integer division with addcdiv is no longer supported", info.name));
}

Tensor addcdiv(const Tensor& given, const Tensor& first, const Tensor& second, double value) {
  const OpFront front(kAddcdiv);
  const std::vector<Tensor> all = as_wide_as_the_widest(front, kAddcdiv, {given, first, second});
  require_no_whole_division(kAddcdiv, all[1], all[2]);
  for (const Tensor& operand : all) require_one_device(all[0], operand, kAddcdiv);
  Recorder record("AddcdivBackward", {&all[0], &all[1], &all[2]});
  record.save(record.needs(2) ? all[1] : Tensor());
  record.save(all[2]);
  Tensor out = ternary_new(kAddcdiv, all[0], all[1], all[2], functors::Addcdiv{value});
  record.attach(out, AddcdivGradients{value});
  return out;
}

Tensor addcdiv_(const Tensor& input, const Tensor& first, const Tensor& second, double value) {
  const OpFront front(kAddcdivInplace);
  require_overwritable(kAddcdivInplace, input, {&first, &second});
  require_no_whole_division(kAddcdivInplace, first, second);
  Recorder record =
      Recorder::overwriting(kAddcdivInplace.name, "AddcdivBackward", {&input, &first, &second});
  record.save(record.needs(2) ? first : Tensor());
  record.save(second);
  begin_inplace_write(input, kAddcdivInplace.name);
  map_elements(input, input.dtype(), functors::Addcdiv{value}, input, first, second);
  if (record.is_needed()) record.attach(input, AddcdivGradients{value});
  return input;
}

// The angle of (x, y) seen from 0: `input` is y, `other` x.
Tensor atan2(const Tensor& given, const Tensor& given_other) {
  const OpFront front(kAtan2);
  const std::vector<Tensor> both = as_wide_as_the_widest(front, kAtan2, {given, given_other});
  Recorder record("Atan2Backward", {&both[0], &both[1]});
  record.save(both[1]);
  record.save(both[0]);
  const DType promoted = promoted_dtype({&both[0], &both[1]});
  const DType dtype = is_floating(promoted) ? promoted : DType::float32;
  Tensor out = binary_new_floating(kAtan2, both[0], both[1], dtype, functors::Angle());
  record.attach(out, [](BackwardCall& call) {
    const Tensor x = call.saved(0);
    const Tensor y = call.saved(1);
    const bool is_flat_at_origin = Context::current().rules.angles_are_flat_at_origin;
    Tensor total;
    Tensor inverse;
    {
      const Tensor x_square = formula::product(x, x);
      const Tensor y_square = formula::product(y, y);
      total = formula::sum(y_square, x_square);
      if (!is_flat_at_origin) {
        inverse = formula::mapped(std::exchange(total, {}), &reciprocal, functors::Reciprocal());
      }
    }
    if (is_flat_at_origin) {
      inverse = formula::mapped(total, &reciprocal, functors::Reciprocal());
      const Tensor is_origin =
          empty_for_loop(total.shape(), {&total}, {DType::boolean, total.device()});
      map_floating(inverse, inverse.dtype(), functors::Kept{true}, inverse, total);
    }
    TensorList grads{Tensor(), Tensor()};
    const Tensor rising = call.needs(0) ? formula::product(call.grad(), x) : Tensor();
    if (call.needs(0)) grads[0] = formula::product(rising, inverse);
    const Tensor negated = call.needs(1) ? formula::negated(y) : Tensor();
    const Tensor falling = call.needs(1) ? formula::product(call.grad(), negated) : Tensor();
    if (call.needs(1)) grads[1] = formula::product(falling, inverse);
    return grads;
  });
  return out;
}

}  // namespace

Tensor lerp_(const Tensor& input, const Tensor& end, const Tensor& weight) {
  const OpFront front(kLerpInplace);
  require_end(kLerpInplace, input, end);
  require_alike(kLerpInplace, input, weight);
  require_overwritable(kLerpInplace, input, {&end, &weight});
  Recorder record =
      Recorder::overwriting(kLerpInplace.name, "LerpBackward", {&input, &end, &weight});
  record.save(record.needs(2) ? end : Tensor());
  record.save(record.needs(2) ? copy_of(input) : Tensor());
  record.save(weight);
  begin_inplace_write(input, kLerpInplace.name);
  map_floating(input, input.dtype(), functors::LerpBy(), input, end, weight);
  if (record.is_needed()) record.attach(input, LerpByGradients());
  return input;
}

std::vector<OpDef> lerp_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  const ParamName value{"value", 1.0};
  return {
      define(kLerp, kBoth, &lerp_row, {"input", "end", "weight"}),
      define(kLerpInplace, kMethod, &lerp_inplace_row, {"input", "end", "weight"}),
      define(kAddcmulInplace, kMethod, &addcmul_, {"input", "tensor1", "tensor2", value}),
      define(kAddcdivInplace, kMethod, &addcdiv_, {"input", "tensor1", "tensor2", value}),
      define(kAddcmul, kBoth, &addcmul, {"input", "tensor1", "tensor2", value}),
      define(kAddcdiv, kBoth, &addcdiv, {"input", "tensor1", "tensor2", value}),
      define(kAtan2, kBoth, &atan2, {"input", "other"}),
  };
}

}  // namespace ohm::ops
