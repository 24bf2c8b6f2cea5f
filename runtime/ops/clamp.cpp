#include "runtime/ops/clamp.h"

#include <limits>
#include <stdexcept>

#include "runtime/ops/choice.h"
#include "runtime/ops/comparison.h"
#include "runtime/ops/pointwise_kernel.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kClamp{"clamp"};

std::vector<Sample> bounds() {
  const Sample both_signs{
      from_values({-1.3, 0.8, -0.4, 2.1, 0.6, -1.1}, {2, 3}, {DType::float64, Device::cpu()})};
  std::vector<Sample> samples(3, both_signs);
  samples[0].insert(samples[0].end(), {Value(-0.5), Value(0.7)});
  samples[1].insert(samples[1].end(), {Value(-0.5), Value()});
  samples[2].insert(samples[2].end(), {Value(), Value(0.7)});
  return samples;
}

}  // namespace

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
  map_elements(out, input.dtype(), clamped(min, max), input);
  record.attach_differentiable(out, [min, max](BackwardCall& call) {
    return TensorList{clamp_gradient(call.grad(), call.saved(0), min, max)};
  });
  return out;
}

std::vector<OpDef> clamp_ops() {
  return {define(kClamp, kFunction | kMethod, &clamp, {"input", "min", "max"}, bounds)};
}

}  // namespace ohm::ops
