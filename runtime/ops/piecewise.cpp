#include "runtime/ops/piecewise.h"

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/sum.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/piecewise.h"
#include "runtime/ops/formula.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kLeakyRelu{"leaky_relu"};
constexpr OpInfo kElu{"elu"};
constexpr OpInfo kSelu{"selu"};
constexpr OpInfo kCelu{"celu"};
constexpr OpInfo kHardtanh{"hardtanh"};
constexpr OpInfo kRelu6{"relu6"};
constexpr OpInfo kHardsigmoid{"hardsigmoid"};
constexpr OpInfo kHardswish{"hardswish"};
constexpr OpInfo kHardshrink{"hardshrink"};
constexpr OpInfo kSoftshrink{"softshrink"};
constexpr OpInfo kThreshold{"threshold"};
constexpr OpInfo kPrelu{"prelu", CastPolicy::low_precision};

template <class Backward>
Tensor piecewise_gradient(const Tensor& grad, const Tensor& kept, const Backward& backward) {
  return map_new(grad, kept, backward);
}

// PyTorch's loop has the gradient second: the other one says how the result lies.
Tensor piecewise_gradient(const Tensor& grad, const Tensor& kept,
                          const functors::LeakyReluBackward& backward) {
  Tensor out = empty_for_loop(kept.shape(), {&kept, &grad}, options_of(grad));
  map_floating(out, out.dtype(), backward, grad, kept);
  return out;
}

template <class Forward, class Backward>
Tensor piecewise_inplace(const OpInfo& info, std::string_view node, const Tensor& input,
                         Forward forward, Backward backward) {
  const OpFront front(info);
  require_floating(input, info);
  Recorder record = Recorder::overwriting(info.name, node, {&input});
  begin_inplace_write(input, info.name);
  map_floating(input, input.dtype(), forward, input);
  if (!record.is_needed()) return input;
  record.save_output(input);
  record.attach(input, [backward](BackwardCall& call) {
    return TensorList{piecewise_gradient(call.grad(), call.saved(0), backward)};
  });
  return input;
}

// Of straight pieces: the gradient is linear, its slope along the input is 0, and it is the same
// in terms of the result.
template <class Forward, class Backward>
Tensor straight_pieces(const OpInfo& info, std::string_view node, const Tensor& input, bool inplace,
                       Forward forward, Backward backward) {
  if (inplace) return piecewise_inplace(info, node, input, forward, backward);
  const auto kernel = [backward](const Tensor& grad, const Tensor& x) {
    return piecewise_gradient(grad, x, backward);
  };
  return unary_keeping_input(info, node, input, forward,
                             Formula([node, kernel](const Tensor& grad, const Tensor& x) {
                               return formula::linear_in_gradient(node, grad, x, kernel);
                             }));
}

Tensor exponential_unit(const OpInfo& info, const Tensor& input, bool inplace,
                        const functors::ExponentialUnit& unit) {
  const functors::ExponentialUnitBackward backward{unit, inplace};
  if (inplace) return piecewise_inplace(info, "EluBackward", input, unit, backward);
  return unary_keeping_input(info, "EluBackward", input, unit, backward);
}

// Backward needs the input that is overwritten: a copy of it is kept.
Tensor limited_inplace(const OpInfo& info, const Tensor& input, double low, double high) {
  const OpFront front(info);
  require_floating(input, info);
  Recorder record = Recorder::overwriting(info.name, "HardtanhBackward", {&input});
  if (record.is_needed()) record.save(copy_of(input));
  begin_inplace_write(input, info.name);
  map_floating(input, input.dtype(), functors::Clamp{low, high}, input);
  record.attach(input, [low, high](BackwardCall& call) {
    return TensorList{map_new(call.grad(), call.saved(0), functors::ClampedBackward{low, high})};
  });
  return input;
}

Tensor limited(const OpInfo& info, const Tensor& input, double low, double high, bool inplace) {
  if (inplace) return limited_inplace(info, input, low, high);
  return straight_pieces(info, "HardtanhBackward", input, false, functors::Clamp{low, high},
                         functors::ClampedBackward{low, high});
}

// The weight of a channel, seen with the input's shape. A view.
Tensor spread_prelu_weight(const Tensor& weight, const Tensor& input) {
  Shape sizes(input.dims(), 1);
  Shape strides(input.dims(), 1);
  if (weight.numel() != 1) {
    sizes[1] = weight.numel();
    strides[1] = weight.dims() == 0 ? 1 : weight.strides()[0];
  }
  return make_view(weight, sizes, strides, weight.impl()->offset);
}

std::vector<Sample> both_sides() {
  return {
      {from_values({-1.5, -0.4, 0.3, 0.9, 1.7, -2.2}, {2, 3}, {DType::float64, Device::cpu()})}};
}

std::vector<Sample> both_sides_and(std::vector<Value> arguments) {
  std::vector<Sample> samples = both_sides();
  samples[0].insert(samples[0].end(), arguments.begin(), arguments.end());
  return samples;
}

}  // namespace

Tensor leaky_relu(const Tensor& input, double negative_slope, bool inplace) {
  return straight_pieces(kLeakyRelu, "LeakyReluBackward", input, inplace,
                         functors::LeakyRelu{negative_slope},
                         functors::LeakyReluBackward{negative_slope});
}

Tensor elu(const Tensor& input, double alpha, bool inplace) {
  return exponential_unit(kElu, input, inplace, {alpha, 1.0, 1.0});
}

Tensor selu(const Tensor& input, bool inplace) {
  return exponential_unit(kSelu, input, inplace, {1.6732632423543772, 1.0507009873554805, 1.0});
}

Tensor celu(const Tensor& input, double alpha, bool inplace) {
  if (alpha == 0.0) throw std::invalid_argument("[celu] alpha cannot be 0");
  return exponential_unit(kCelu, input, inplace, {alpha, 1.0, 1.0 / alpha});
}

Tensor hardtanh(const Tensor& input, double min_val, double max_val, bool inplace) {
  return limited(kHardtanh, input, min_val, max_val, inplace);
}

Tensor relu6(const Tensor& input, bool inplace) {
  return limited(kRelu6, input, 0.0, 6.0, inplace);
}

Tensor hardsigmoid(const Tensor& input) {
  return unary_keeping_input(kHardsigmoid, "HardsigmoidBackward", input, functors::HardSigmoid(),
                             functors::HardSigmoidBackward());
}

Tensor hardswish(const Tensor& input) {
  return unary_keeping_input(kHardswish, "HardswishBackward", input, functors::HardSwish(),
                             functors::HardSwishBackward());
}

Tensor hardshrink(const Tensor& input, double lambd) {
  return unary_keeping_input(kHardshrink, "HardshrinkBackward", input, functors::HardShrunk{lambd},
                             functors::ShrunkBackward{lambd});
}

Tensor softshrink(const Tensor& input, double lambd) {
  return unary_keeping_input(kSoftshrink, "SoftshrinkBackward", input, functors::SoftShrunk{lambd},
                             functors::ShrunkBackward{lambd});
}

Tensor threshold(const Tensor& input, double limit, double value) {
  return unary_keeping_input(kThreshold, "ThresholdBackward", input,
                             functors::Threshold{limit, value}, functors::ThresholdBackward{limit});
}

Tensor prelu(const Tensor& given, const Tensor& given_weight) {
  const OpFront front(kPrelu);
  const Tensor weight = front.input(given_weight);
  const Tensor input = front.input(given);
  require_floating(input, kPrelu);
  const bool fits = weight.numel() == 1 ||
                    (weight.dims() == 1 && input.dims() > 1 && weight.numel() == input.size(1));
  if (!fits || weight.device() != input.device()) {
    throw std::invalid_argument(fmt::format("[prelu] a weight ({}) does not fit an input ({})",
                                            describe(weight), describe(input)));
  }
  Recorder record("PreluKernelBackward", {&input, &weight});
  record.save(input);
  record.save(weight);
  Tensor out = map_new(input, spread_prelu_weight(weight, input), functors::Prelu());
  record.attach(out, [](BackwardCall& call) {
    const Tensor x = call.saved(0);
    const Tensor slope = call.saved(1);
    // One kernel writes both; the weight's is summed to its shape afterwards.
    Tensor grad = empty_like(x);
    Tensor weight_grad = empty_like(x);
    map_floating(grad, x.dtype(), functors::PreluBackward(), call.grad(), x,
                 spread_prelu_weight(slope, x));
    map_floating(weight_grad, x.dtype(), functors::PreluWeightBackward(), call.grad(), x);
    TensorList grads{call.needs(0) ? grad : Tensor(), Tensor()};
    grad = Tensor();
    if (call.needs(1)) {
      const Tensor spread = spread_prelu_weight(slope, x);
      const Tensor summed = sum_to_shape(weight_grad, spread.shape());
      grads[1] = make_view(summed, slope.shape(), contiguous_strides(slope.shape()),
                           summed.impl()->offset);
    }
    return grads;
  });
  return out;
}

std::vector<OpDef> piecewise_ops() {
  const ParamName inplace{"inplace", false};
  const ParamName lambd{"lambd", 0.5};
  return {
      define(kLeakyRelu, kFunctional, &leaky_relu, {"input", {"negative_slope", 0.01}, inplace},
             [] { return both_sides_and({0.01}); }),
      define(kElu, kFunctional, &elu, {"input", {"alpha", 1.0}, inplace},
             [] { return both_sides_and({1.3}); }),
      define(kSelu, kFunction | kFunctional, &selu, {"input", inplace}, both_sides),
      define(kCelu, kFunction | kFunctional, &celu, {"input", {"alpha", 1.0}, inplace},
             [] { return both_sides_and({0.7}); }),
      define(kHardtanh, kFunctional, &hardtanh,
             {"input", {"min_val", -1.0}, {"max_val", 1.0}, inplace}, both_sides),
      define(kRelu6, kFunctional, &relu6, {"input", inplace}, both_sides),
      define(kHardsigmoid, kFunctional, &hardsigmoid, {"input"}, both_sides),
      define(kHardswish, kFunctional, &hardswish, {"input"}, both_sides),
      define(kHardshrink, kFunctional, &hardshrink, {"input", lambd}, both_sides),
      define(kSoftshrink, kFunctional, &softshrink, {"input", lambd}, both_sides),
      define(kThreshold, kFunctional, &threshold, {"input", "threshold", "value"},
             [] {
               return both_sides_and({0.1, 2.0});
             }),
      define(kPrelu, kFunction | kFunctional, &prelu, {"input", "weight"},
             [] {
               const TensorOptions options{DType::float64, Device::cpu()};
               std::vector<Sample> samples(2, both_sides()[0]);
               samples[0].emplace_back(from_values({0.25}, {1}, options));
               samples[1].emplace_back(from_values({0.25, 0.5, -0.1}, {3}, options));
               return samples;
             }),
  };
}

}  // namespace ohm::ops
