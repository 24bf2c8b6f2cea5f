#include "runtime/ops/activation/piecewise.h"

#include "runtime/arithmetic/copy.h"
#include "runtime/autograd/recorded_arithmetic.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/piecewise.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/choice.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/pointwise/formula.h"
#include "runtime/ops/shape/view.h"

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

// Of straight pieces: the gradient is linear, its slope along the input is 0, and it is the same
// in terms of the result.
template <class Forward, class Backward>
Tensor straight_pieces(const OpInfo& info, std::string_view node, const Tensor& input, bool inplace,
                       Forward forward, Backward backward) {
  const auto kernel = [backward](const Tensor& grad, const Tensor& x) {
    return piecewise_gradient(grad, x, backward);
  };
  const auto gradient = [node, kernel](const Tensor& grad, const Tensor& x) {
    return formula::linear_in_gradient(node, grad, x, kernel);
  };
  if (inplace) {
    return overwritten_keeping_result(info, node, input, forward, Formula(gradient));
  }
  return unary_keeping_input(info, node, input, forward, Formula(gradient));
}

// In terms of the input, which is copied where the result is written over it.
template <class Forward, class Gradient>
Tensor written_or_new(const OpInfo& info, std::string_view node, const Tensor& input, bool inplace,
                      Forward forward, Gradient gradient) {
  if (inplace) return overwritten_keeping_input(info, node, input, forward, Formula(gradient));
  return unary_keeping_input(info, node, input, forward, Formula(gradient));
}

// Only the piece below 0 bends: in terms of the input as the slope does, of the result evenly.
Tensor exponential_bend(const Tensor& grad, const Tensor& first_grad, const Tensor& kept,
                        const functors::ExponentialUnitBackward& backward);

Tensor exponential_gradient(const Tensor& grad, const Tensor& kept,
                            const functors::ExponentialUnitBackward& backward) {
  const auto first = [backward](const Tensor& g, const Tensor& of) {
    return map_new(g, of, backward);
  };
  const auto bend = [backward](const Tensor& g, const Tensor& first_grad, const Tensor& of) {
    return exponential_bend(g, first_grad, of, backward);
  };
  return formula::bending_gradient("EluBackwardBackward", grad, kept, first, bend);
}

Tensor exponential_bend(const Tensor& grad, const Tensor& first_grad, const Tensor& kept,
                        const functors::ExponentialUnitBackward& backward) {
  const Tensor is_bent = lt(kept, 0.0);
  const Tensor bent = cast(is_bent, grad.dtype());
  const Tensor both = formula::product(grad, first_grad);
  const Tensor scaled = formula::times(both, backward.unit.steepness);
  if (backward.is_result) return formula::product(scaled, bent);
  const Tensor slope = exponential_gradient(scaled, kept, backward);
  return formula::product(slope, bent);
}

Tensor exponential_unit(const OpInfo& info, const Tensor& input, bool inplace,
                        const functors::ExponentialUnit& unit) {
  const functors::ExponentialUnitBackward backward{unit, inplace};
  const auto gradient = [backward](const Tensor& grad, const Tensor& kept) {
    return exponential_gradient(grad, kept, backward);
  };
  if (inplace) {
    return overwritten_keeping_result(info, "EluBackward", input, unit, Formula(gradient));
  }
  return unary_keeping_input(info, "EluBackward", input, unit, Formula(gradient));
}

Tensor limited_inplace(const OpInfo& info, const Tensor& input, double low, double high) {
  const auto kernel = [low, high](const Tensor& grad, const Tensor& x) {
    return map_new(grad, x, functors::ClampedBackward{low, high});
  };
  return overwritten_keeping_input(info, "HardtanhBackward", input, functors::Clamp{low, high},
                                   Formula([kernel](const Tensor& grad, const Tensor& x) {
                                     return formula::linear_in_gradient("HardtanhBackwardBackward",
                                                                        grad, x, kernel);
                                   }));
}

Tensor limited(const OpInfo& info, const Tensor& input, double low, double high, bool inplace) {
  if (inplace) return limited_inplace(info, input, low, high);
  return straight_pieces(info, "HardtanhBackward", input, false, functors::Clamp{low, high},
                         functors::ClampedBackward{low, high});
}

// Bent between −3 and 3.
Tensor hard_swish_gradient(const Tensor& grad, const Tensor& x) {
  const auto first = [](const Tensor& g, const Tensor& of) {
    return map_new(g, of, functors::HardSwishBackward());
  };
  const auto bend = [](const Tensor& g, const Tensor& first_grad, const Tensor& of) {
    const Tensor zero = zeros({}, options_of(of));
    const Tensor both = mul(g, first_grad);
    const Tensor third = div(both, 3.0);
    const Tensor is_below = lt(of, 3.0);
    const Tensor is_above = gt(of, -3.0);
    const Tensor is_between = logical_and(is_above, is_below);
    return where(is_between, third, zero);
  };
  return formula::bending_gradient("HardswishBackwardBackward", grad, x, first, bend);
}

// ---- prelu --------------------------------------------------------------------------------------

// The weight of a channel, with as many dimensions as the input.
Tensor aligned_prelu_weight(const Tensor& weight, const Tensor& input) {
  if (weight.dims() == input.dims()) return weight;
  Shape sizes(input.dims(), 1);
  if (input.dims() > 1) sizes[1] = weight.numel();
  return reshape(weight, sizes);
}

// One kernel writes both; the weight's is summed to its shape by what receives it.
std::vector<Tensor> prelu_kernel_gradients(const Tensor& grad, const Tensor& x,
                                           const Tensor& weight) {
  std::vector<Tensor> grads;
  grads.push_back(empty_for_loop(x.shape(), {&x, &weight, &grad}, options_of(x)));
  grads.push_back(empty_for_loop(x.shape(), {&x, &weight, &grad}, options_of(x)));
  map_floating(grads[0], x.dtype(), functors::PreluBackward(), grad, x, weight);
  map_floating(grads[1], x.dtype(), functors::PreluWeightBackward(), grad, x);
  return grads;
}

// `of_input` and `of_weight`: the gradients of both gradients; one may be undefined.
Tensor prelu_grad_of_grad(const Tensor& of_input, const Tensor& of_weight, const Tensor& x,
                          const Tensor& weight) {
  if (!of_input.defined()) {
    const Tensor below = mul(of_weight, x);
    const Tensor zero = zeros({}, options_of(x));
    return where(ge(x, 0.0), zero, below);
  }
  if (!of_weight.defined()) {
    const Tensor below = mul(of_input, weight);
    return where(ge(x, 0.0), of_input, below);
  }
  const Tensor of_weight_below = mul(of_weight, x);
  const Tensor of_input_below = mul(of_input, weight);
  const Tensor below = add(of_input_below, of_weight_below);
  return where(ge(x, 0.0), of_input, below);
}

// Of what is `of` · grad below 0, by the factor that is not `of`.
Tensor prelu_bend(const Tensor& of, const Tensor& grad, const Tensor& x) {
  if (!of.defined()) return zeros_like(x);
  const Tensor below = mul(grad, of);
  const Tensor zero = zeros({}, options_of(x));
  return where(ge(x, 0.0), zero, below);
}

std::vector<Tensor> prelu_gradients(const Tensor& grad, const Tensor& x, const Tensor& weight) {
  const std::vector<Tensor> made = prelu_kernel_gradients(grad, x, weight);
  if (Recorder record("PreluKernelBackwardBackward", {&grad, &x, &weight}); record.is_needed()) {
    record.save(grad);
    record.save(x);
    record.save(record.needs(0) ? weight : Tensor());
    record.attach_differentiable(made, [](BackwardCall& call) {
      const Tensor first_grad = call.saved(0);
      const Tensor input = call.saved(1);
      TensorList grads(3);
      if (call.needs(0)) {
        grads[0] = prelu_grad_of_grad(call.grad(0), call.grad(1), input, call.saved(2));
      }
      if (call.needs(1)) grads[1] = prelu_bend(call.grad(1), first_grad, input);
      if (call.needs(2)) grads[2] = prelu_bend(call.grad(0), first_grad, input);
      return grads;
    });
  }
  return made;
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

Tensor hardsigmoid(const Tensor& input, bool inplace) {
  return written_or_new(kHardsigmoid, "HardsigmoidBackward", input, inplace,
                        functors::HardSigmoid(), [](const Tensor& grad, const Tensor& x) {
                          return formula::underivable_gradient(kHardsigmoid, grad, x,
                                                               functors::HardSigmoidBackward());
                        });
}

Tensor hardswish(const Tensor& input, bool inplace) {
  return written_or_new(kHardswish, "HardswishBackward", input, inplace, functors::HardSwish(),
                        &hard_swish_gradient);
}

Tensor hardshrink(const Tensor& input, double lambd) {
  return straight_pieces(kHardshrink, "HardshrinkBackward", input, false,
                         functors::HardShrunk{lambd}, functors::ShrunkBackward{lambd});
}

Tensor softshrink(const Tensor& input, double lambd) {
  return straight_pieces(kSoftshrink, "SoftshrinkBackward", input, false,
                         functors::SoftShrunk{lambd}, functors::ShrunkBackward{lambd});
}

Tensor threshold(const Tensor& input, double limit, double value, bool inplace) {
  const auto kernel = [limit](const Tensor& grad, const Tensor& x) {
    return piecewise_gradient(grad, x, functors::ThresholdBackward{limit});
  };
  return written_or_new(kThreshold, "ThresholdBackward", input, inplace,
                        functors::Threshold{limit, value},
                        [kernel](const Tensor& grad, const Tensor& x) {
                          return formula::linear_in_gradient("ThresholdBackward", grad, x, kernel);
                        });
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
  const Tensor slope = aligned_prelu_weight(weight, input);
  Recorder record("PreluKernelBackward", {&input, &slope});
  record.save(input);
  record.save(slope);
  Tensor out = map_new(input, slope, functors::Prelu());
  record.attach_differentiable(out, [](BackwardCall& call) {
    const Tensor x = call.saved(0);
    const std::vector<Tensor> grads = prelu_gradients(call.grad(), x, call.saved(1));
    return TensorList{call.needs(0) ? grads[0] : Tensor(), call.needs(1) ? grads[1] : Tensor()};
  });
  return out;
}

std::vector<OpDef> piecewise_ops() {
  const ParamName inplace{"inplace", false};
  const ParamName lambd{"lambd", 0.5};
  return {
      define(kLeakyRelu, kFunctional, &leaky_relu, {"input", {"negative_slope", 0.01}, inplace}),
      define(kElu, kFunctional, &elu, {"input", {"alpha", 1.0}, inplace}),
      define(kSelu, kFunction | kFunctional, &selu, {"input", inplace}),
      define(kCelu, kFunction | kFunctional, &celu, {"input", {"alpha", 1.0}, inplace}),
      define(kHardtanh, kFunctional, &hardtanh,
             {"input", {"min_val", -1.0}, {"max_val", 1.0}, inplace}),
      define(kRelu6, kFunctional, &relu6, {"input", inplace}),
      define(kHardsigmoid, kFunctional, &hardsigmoid, {"input", inplace}),
      define(kHardswish, kFunctional, &hardswish, {"input", inplace}),
      define(kHardshrink, kFunction | kCppFunctional, &hardshrink, {"input", lambd}),
      define(kSoftshrink, kCppFunctional, &softshrink, {"input", lambd}),
      define(kThreshold, kFunction | kFunctional, &threshold,
             {"input", "threshold", "value", inplace}),
      define(kPrelu, kFunction | kCppFunctional, &prelu, {"input", "weight"}),
  };
}

}  // namespace ohm::ops
