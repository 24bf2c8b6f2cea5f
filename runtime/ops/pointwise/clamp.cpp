#include "runtime/ops/pointwise/clamp.h"

#include <limits>
#include <optional>
#include <stdexcept>

#include "runtime/ops/indexing/indexing.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/pointwise/choice.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/pointwise/formula.h"
#include "runtime/ops/pointwise/pointwise_kernel.h"
#include "runtime/ops/pointwise/whole_functors.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kClamp{"clamp"};
constexpr OpInfo kClampInplace{"clamp_"};

// ---- bounds that are tensors --------------------------------------------------------------------

/// What the gradients are computed of; one bound may be undefined.
struct Clamped {
  Tensor grad;
  Tensor input;
  Tensor min;
  Tensor max;

  bool has_both() const { return min.defined() && max.defined(); }
};

template <class F>
Tensor combined_masks(const Tensor& a, const Tensor& b, F fn) {
  return formula::compared(a, b, fn);
}

// In place, as PyTorch does: what comes first has the shape of the result, or there is none.
template <class F>
Tensor narrowed(const Tensor& mask, const Tensor& by, F fn) {
  if (!(broadcast_shapes(mask.shape(), by.shape(), "clamp") == mask.shape())) {
    throw std::invalid_argument(
        fmt::format("[clamp] output with shape {} doesn't match the broadcast shape of {} and {}",
                    mask.shape().str(), mask.shape().str(), by.shape().str()));
  }
  map_elements(mask, DType::boolean, fn, mask, by);
  return mask;
}

Tensor zero_like_of(const Tensor& grad) { return full({}, 0.0, options_of(grad)); }

// Equal elements: all of the gradient is the input's.

Tensor whole_of_min(const Clamped& of, const Tensor& zero) {
  const Tensor is_below = lt(of.input, of.min);
  if (!of.max.defined()) return where(is_below, of.grad, zero);
  const Tensor is_ordered = lt(of.min, of.max);
  return where(narrowed(is_below, is_ordered, functors::Both()), of.grad, zero);
}

Tensor whole_of_max(const Clamped& of, const Tensor& zero) {
  const Tensor is_above = gt(of.input, of.max);
  if (!of.min.defined()) return where(is_above, of.grad, zero);
  const Tensor is_crossed = lt(of.max, of.min);
  return where(narrowed(is_above, is_crossed, functors::Either()), of.grad, zero);
}

Tensor whole_of_input(const Clamped& of) {
  const Tensor zero = zero_like_of(of.grad);
  if (!of.has_both()) {
    return where(of.min.defined() ? ge(of.input, of.min) : le(of.input, of.max), of.grad, zero);
  }
  const Tensor is_above = ge(of.input, of.min);
  const Tensor is_below = le(of.input, of.max);
  return where(narrowed(is_above, is_below, functors::Both()), of.grad, zero);
}

TensorList whole_gradients(const BackwardCall& call, const Clamped& of) {
  TensorList grads(3);
  if (call.needs(1) || call.needs(2)) {
    const Tensor zero = zero_like_of(of.grad);
    if (call.needs(1)) grads[1] = whole_of_min(of, zero);
    if (call.needs(2)) grads[2] = whole_of_max(of, zero);
  }
  if (call.needs(0)) grads[0] = whole_of_input(of);
  return grads;
}

// Equal elements share the gradient.

Tensor half_or_all(const Tensor& grad, const Tensor& is_equal, const Tensor& half,
                   const Tensor& loses) {
  const Tensor share = where(is_equal, half, grad);
  masked_fill_(share, loses, 0.0);
  return share;
}

// Beside one bound alone; `loses` compares the input with it.
Tensor shared_with_bound(const Clamped& of, const Tensor& bound, const Tensor& loses) {
  const Tensor half = div(of.grad, 2.0);
  const Tensor is_equal = eq(of.input, bound);
  return half_or_all(of.grad, is_equal, half, loses);
}

/// How the bounds lie to each other.
struct BoundOrder {
  Tensor is_strict;
  Tensor is_held;
};

Tensor wins_of_min(const Clamped& of, const BoundOrder& order) {
  const Tensor is_below = lt(of.input, of.min);
  const Tensor is_equal = eq(of.input, of.min);
  const Tensor shares = combined_masks(is_equal, order.is_strict, functors::Both());
  const Tensor has_some = combined_masks(is_below, shares, functors::Either());
  return combined_masks(has_some, order.is_held, functors::Both());
}

Tensor share_of_min(const Clamped& of, const BoundOrder& order) {
  const Tensor wins = wins_of_min(of, order);
  const Tensor loses = logical_not(wins);
  return shared_with_bound(of, of.min, loses);
}

Tensor wins_of_max(const Clamped& of, const BoundOrder& order, const Tensor& is_crossed) {
  const Tensor is_above = gt(of.input, of.max);
  const Tensor is_equal = eq(of.input, of.max);
  const Tensor shares = combined_masks(is_equal, order.is_strict, functors::Both());
  const Tensor has_some = combined_masks(is_above, shares, functors::Either());
  const Tensor has_it = combined_masks(has_some, order.is_held, functors::Both());
  return combined_masks(has_it, is_crossed, functors::Either());
}

Tensor share_of_max(const Clamped& of, const BoundOrder& order) {
  const Tensor is_crossed = gt(of.min, of.max);
  const Tensor wins = wins_of_max(of, order, is_crossed);
  const Tensor loses = logical_not(wins);
  const Tensor half = div(of.grad, 2.0);
  const Tensor is_equal = eq(of.input, of.max);
  const Tensor shares = combined_masks(is_equal, order.is_strict, functors::Both());
  return half_or_all(of.grad, shares, half, loses);
}

Tensor loses_between(const Clamped& of, const Tensor& is_crossed) {
  const Tensor is_below = lt(of.input, of.min);
  const Tensor is_above = gt(of.input, of.max);
  const Tensor is_outside = combined_masks(is_below, is_above, functors::Either());
  return combined_masks(is_outside, is_crossed, functors::Either());
}

// Where both bounds are the element its gradient is not shared.
Tensor is_at_one_bound(const Clamped& of) {
  const Tensor is_min = eq(of.input, of.min);
  const Tensor is_max = eq(of.input, of.max);
  return combined_masks(is_min, is_max, functors::EitherAlone());
}

Tensor share_of_input(const Clamped& of) {
  if (!of.max.defined()) return shared_with_bound(of, of.min, lt(of.input, of.min));
  if (!of.min.defined()) return shared_with_bound(of, of.max, gt(of.input, of.max));
  const Tensor is_crossed = gt(of.min, of.max);
  const Tensor loses = loses_between(of, is_crossed);
  const Tensor shares = is_at_one_bound(of);
  const Tensor half = div(of.grad, 2.0);
  return half_or_all(of.grad, shares, half, loses);
}

TensorList shares_of_bounds(const BackwardCall& call, const Clamped& of) {
  TensorList grads(3);
  if (!of.max.defined()) grads[1] = shared_with_bound(of, of.min, gt(of.input, of.min));
  if (!of.min.defined()) grads[2] = shared_with_bound(of, of.max, lt(of.input, of.max));
  if (!of.has_both()) return grads;
  const BoundOrder order{lt(of.min, of.max), le(of.min, of.max)};
  if (call.needs(1)) grads[1] = share_of_min(of, order);
  if (call.needs(2)) grads[2] = share_of_max(of, order);
  return grads;
}

TensorList shared_gradients(const BackwardCall& call, const Clamped& of) {
  TensorList grads(3);
  if (call.needs(1) || call.needs(2)) grads = shares_of_bounds(call, of);
  if (call.needs(0)) grads[0] = share_of_input(of);
  return grads;
}

void write_between(const Tensor& out, DType dtype, const Tensor& input, const Tensor& min,
                   const Tensor& max) {
  if (min.defined()) map_elements(out, dtype, functors::Maximum(), input, min);
  if (max.defined()) {
    map_elements(out, dtype, functors::Minimum(), min.defined() ? out : input, max);
  }
}

void attach_between(Recorder& record, const Tensor& out) {
  record.attach_differentiable(out, [](BackwardCall& call) {
    const Clamped of{call.grad(), call.saved(2), call.saved(1), call.saved(0)};
    const bool share = Context::current().rules.clamp_is_flat_at_bounds;
    return share ? shared_gradients(call, of) : whole_gradients(call, of);
  });
}

/// Of the result; both bounds are on the input's device.
struct BetweenPlan {
  Shape shape;
  DType dtype = DType::float32;

  BetweenPlan(const OpInfo& info, const Tensor& input, const Tensor& min, const Tensor& max)
      : shape(input.shape()) {
    for (const Tensor* bound : {&min, &max}) {
      if (!bound->defined()) continue;
      require_one_device(input, *bound, info);
      shape = broadcast_shapes(shape, bound->shape(), info.name.data());
    }
    dtype = promoted_dtype({&input, min.defined() ? &min : &max, max.defined() ? &max : &min});
  }
};

Tensor clamp_between(const Tensor& input, const Tensor& min, const Tensor& max) {
  const OpFront front(kClamp);
  const BetweenPlan plan(kClamp, input, min, max);
  Recorder record("ClampBackward", {&input, &min, &max});
  record.save(max);
  record.save(min);
  record.save(input);
  Tensor out =
      empty_for_loop(plan.shape, {&input, min.defined() ? &min : &max, max.defined() ? &max : &min},
                     {plan.dtype, input.device()});
  write_between(out, plan.dtype, input, min, max);
  attach_between(record, out);
  return out;
}

Tensor clamp_between_(const Tensor& input, const Tensor& min, const Tensor& max) {
  const OpFront front(kClampInplace);
  const BetweenPlan plan(kClampInplace, input, min, max);
  if (!(plan.shape == input.shape()) || !can_hold(input.dtype(), plan.dtype)) {
    throw std::invalid_argument(fmt::format("[clamp_] {} cannot hold the result, {} {}",
                                            describe(input), name_of(plan.dtype),
                                            plan.shape.str()));
  }
  Recorder record =
      Recorder::overwriting(kClampInplace.name, "ClampBackward", {&input, &min, &max});
  record.save(max);
  record.save(min);
  save_copy(record, input);
  begin_inplace_write(input, kClampInplace.name);
  write_between(input, plan.dtype, input, min, max);
  attach_between(record, input);
  return input;
}

/// Two tensors or two numbers, or one of them.
class BoundArguments {
 public:
  BoundArguments(const OpInfo& info, const std::optional<TensorOrNumber>& min,
                 const std::optional<TensorOrNumber>& max)
      : min_(min), max_(max) {
    const auto is_a_number = [](const auto& bound) { return bound && is_number(*bound); };
    const bool has_number = is_a_number(min) || is_a_number(max);
    are_tensors_ = tensor(min).defined() || tensor(max).defined();
    if (!are_tensors_ || !has_number) return;
    throw std::invalid_argument(
        fmt::format("[{}] min and max must be two tensors or two numbers", info.name));
  }

  bool are_tensors() const { return are_tensors_; }
  Tensor min() const { return tensor(min_); }
  Tensor max() const { return tensor(max_); }
  std::optional<double> min_number() const { return number(min_); }
  std::optional<double> max_number() const { return number(max_); }

 private:
  static Tensor tensor(const std::optional<TensorOrNumber>& bound) {
    return bound ? tensor_of(*bound) : Tensor();
  }
  static std::optional<double> number(const std::optional<TensorOrNumber>& bound) {
    return bound ? std::optional<double>(number_of(*bound)) : std::nullopt;
  }

  const std::optional<TensorOrNumber>& min_;
  const std::optional<TensorOrNumber>& max_;
  bool are_tensors_ = false;
};

// Where a bound is a number that no double holds, and the elements int64.
std::optional<WholeClamp> whole_clamp(std::optional<double> min, std::optional<double> max,
                                      DType dtype) {
  const auto bound = [](std::optional<double> rounded, std::optional<std::int64_t> whole,
                        std::int64_t otherwise) {
    if (whole) return *whole;
    return rounded ? functors::nearest<std::int64_t>(*rounded) : otherwise;
  };
  const auto lower = min ? whole_scalar(*min, dtype) : std::nullopt;
  const auto upper = max ? last_whole_scalar(*max, dtype) : std::nullopt;
  if (!lower && !upper) return std::nullopt;
  using Limits = std::numeric_limits<std::int64_t>;
  return WholeClamp{bound(min, lower, Limits::min()), bound(max, upper, Limits::max())};
}

void write_clamped(const Tensor& out, const Tensor& input, std::optional<double> min,
                   std::optional<double> max) {
  if (const std::optional<WholeClamp> whole = whole_clamp(min, max, input.dtype())) {
    return map_elements(out, input.dtype(), *whole, input);
  }
  map_elements(out, input.dtype(), clamped(min, max), input);
}

}  // namespace

Tensor clamp_by(const Tensor& input, const std::optional<TensorOrNumber>& min,
                const std::optional<TensorOrNumber>& max) {
  const BoundArguments bounds(kClamp, min, max);
  if (bounds.are_tensors()) return clamp_between(input, bounds.min(), bounds.max());
  return clamp(input, bounds.min_number(), bounds.max_number());
}

Tensor clamp_by_(const Tensor& input, const std::optional<TensorOrNumber>& min,
                 const std::optional<TensorOrNumber>& max) {
  const BoundArguments bounds(kClampInplace, min, max);
  if (bounds.are_tensors()) return clamp_between_(input, bounds.min(), bounds.max());
  return clamp_(input, bounds.min_number(), bounds.max_number());
}

functors::Clamp clamped(std::optional<double> min, std::optional<double> max) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return {min.value_or(-kInfinity), max.value_or(kInfinity)};
}

// The masks of both bounds stay until the gradient is chosen; so does the zero that is chosen.
Tensor clamp_gradient(const Tensor& grad, const Tensor& input, std::optional<double> min,
                      std::optional<double> max) {
  const Tensor zero = full({}, 0.0, options_of(grad));
  const bool is_flat_at_bounds = Context::current().rules.clamp_is_flat_at_bounds;
  Tensor above;
  Tensor below;
  if (min) above = is_flat_at_bounds ? gt(input, *min) : ge(input, *min);
  if (max) below = is_flat_at_bounds ? lt(input, *max) : le(input, *max);
  Tensor mask = above.defined() ? above : below;
  if (above.defined() && below.defined()) {
    map_elements(mask, DType::boolean, functors::Both(), above, below);
  }
  return where(mask, grad, zero);
}

Tensor clamp(const Tensor& input, std::optional<double> min, std::optional<double> max) {
  const OpFront front(kClamp);
  if (!min && !max)
    throw std::invalid_argument("[clamp] at least one of min and max must be given");
  Recorder record("ClampBackward", {&input});
  record.save(input);
  Tensor out = empty_for_loop(input.shape(), {&input}, options_of(input));
  write_clamped(out, input, min, max);
  record.attach_differentiable(out, [min, max](BackwardCall& call) {
    return TensorList{clamp_gradient(call.grad(), call.saved(0), min, max)};
  });
  return out;
}

Tensor clamp_(const Tensor& input, std::optional<double> min, std::optional<double> max) {
  if (!min && !max) {
    throw std::invalid_argument("[clamp_] at least one of min and max must be given");
  }
  if (!is_differentiable(input.dtype())) {
    const OpFront front(kClampInplace);
    require_numbers(kClampInplace, input.dtype());
    begin_inplace_write(input, kClampInplace.name);
    write_clamped(input, input, min, max);
    return input;
  }
  return overwritten_keeping_input(kClampInplace, "ClampBackward", input, clamped(min, max),
                                   Formula([min, max](const Tensor& grad, const Tensor& x) {
                                     return clamp_gradient(grad, x, min, max);
                                   }));
}

std::vector<OpDef> clamp_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  return {define(kClamp, kBoth, &clamp_by, {"input", "min", "max"}),
          define(kClampInplace, kBoth, &clamp_by_, {"input", "min", "max"})};
}

}  // namespace ohm::ops
