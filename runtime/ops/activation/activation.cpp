#include "runtime/ops/activation/activation.h"

#include "runtime/arithmetic/copy.h"
#include "runtime/autograd/recorded_arithmetic.h"
#include "runtime/kernels/functors/activation.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/pointwise/formula.h"
#include "runtime/ops/pointwise/pointwise_gradients.h"
#include "runtime/ops/pointwise/pointwise_math.h"
#include "runtime/ops/pointwise/pointwise_unary.h"
#include "runtime/ops/shape/concat.h"
#include "runtime/ops/shape/slice.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kRelu{"relu"};
constexpr OpInfo kReluInplace{"relu_"};
constexpr OpInfo kSigmoid{"sigmoid"};
constexpr OpInfo kTanh{"tanh"};
constexpr OpInfo kGelu{"gelu"};
constexpr OpInfo kSilu{"silu"};
constexpr OpInfo kMish{"mish"};
constexpr OpInfo kSoftplus{"softplus", CastPolicy::float32};
constexpr OpInfo kLogSigmoid{"logsigmoid"};
constexpr OpInfo kGlu{"glu"};

// Laid out by the result, then by the gradient.
Tensor relu_backward(const Tensor& grad, const Tensor& result) {
  Tensor out = empty_for_loop(grad.shape(), {&result, &grad}, options_of(grad));
  map_floating(out, grad.dtype(), functors::ReluBackward(), grad, result);
  return out;
}

constexpr std::string_view kReluNode = "ReluBackward";

void forbid_booleans(const OpInfo& info, const Tensor& input) {
  if (input.dtype() != DType::boolean) return;
  throw std::invalid_argument(fmt::format("[{}] Boolean inputs not supported for relu", info.name));
}

void attach_relu(Recorder& record, const Tensor& out) {
  if (!record.is_needed()) return;
  record.save_output(out);
  record.attach_differentiable(out, [](BackwardCall& call) {
    return TensorList{formula::linear_in_gradient(
        "ThresholdBackwardBackward", call.grad(), call.saved(0),
        [](const Tensor& grad, const Tensor& result) { return relu_backward(grad, result); })};
  });
}

// Step by step where it is recorded, as a function of products alone.
Tensor silu_backward(const Tensor& grad, const Tensor& x) {
  if (!formula::is_recorded()) return map_new(grad, x, functors::SiluBackward());
  const Tensor y = sigmoid(x);
  const Tensor rest = rsub(y, 1.0);
  const Tensor bent = mul(x, rest);
  const Tensor slope = add(bent, 1.0);
  const Tensor scaled = mul(grad, y);
  return mul(scaled, slope);
}

// The density of the normal distribution, of squares.
Tensor normal_density(const Tensor& squares) {
  constexpr double kFactor = 0.3989422804014327;  // 1 / √2π
  const Tensor half = formula::times(squares, -0.5);
  const Tensor power = exp(half);
  return formula::times(power, kFactor);
}

// With Φ and φ of the normal distribution the slope is Φ + xφ, and the slope of that 2φ − x²φ.
Tensor gelu_bend(const Tensor& grad, const Tensor& first, const Tensor& x) {
  const Tensor squares = formula::product(x, x);
  const Tensor density = normal_density(squares);
  Tensor bend;
  {
    const Tensor falling = formula::product(squares, density);
    const Tensor twice = formula::times(density, 2.0);
    bend = formula::difference(twice, falling);
  }
  Tensor result;
  {
    const Tensor both = formula::product(grad, first);
    result = formula::product(both, bend);
  }
  return result;
}

// With t = tanh(u), u = a · (x + b · x³) the slope is (1 + t) / 2 + x · (1 − t²) · u′ / 2, and the
// slope of that (1 − t²) · (u′ + x · (u″ / 2 − t · u′²)).
Tensor tanh_gelu_bend(const Tensor& grad, const Tensor& first, const Tensor& x) {
  constexpr double kA = 0.7978845608028654;  // √(2 / π)
  constexpr double kB = 0.044715;
  const Tensor squares = formula::product(x, x);
  const Tensor inner = formula::product(x, formula::plus(formula::times(squares, kA * kB), kA));
  const Tensor t = tanh(inner);
  const Tensor slope = formula::plus(formula::times(squares, 3 * kA * kB), kA);
  const Tensor half_bend = formula::times(x, 3 * kA * kB);
  const Tensor bent =
      formula::difference(half_bend, formula::product(t, formula::product(slope, slope)));
  const Tensor rest = formula::plus(formula::negated(formula::product(t, t)), 1.0);
  const Tensor bend = formula::product(rest, formula::sum(slope, formula::product(x, bent)));
  return formula::product(formula::product(grad, first), bend);
}

template <class Slope>
Tensor gelu_backward(const Tensor& grad, const Tensor& x, Slope slope,
                     Tensor (*bend)(const Tensor&, const Tensor&, const Tensor&)) {
  const auto first = [slope](const Tensor& g, const Tensor& of) { return map_new(g, of, slope); };
  return formula::bending_gradient("GeluBackwardBackward", grad, x, first, bend);
}

Tensor log_sigmoid_backward(const Tensor& grad, const Tensor& x) {
  const auto first = [](const Tensor& g, const Tensor& of) {
    Tensor slope = empty_like(g);  // laid out as the gradient alone, whatever x is
    map_floating(slope, slope.dtype(), functors::LogSigmoidBackward(), g, of);
    return slope;
  };
  const auto bend = [](const Tensor& g, const Tensor& first_grad, const Tensor& of) {
    const Tensor both = formula::product(g, first_grad);
    const Tensor probability = sigmoid(of);
    const Tensor falling = formula::plus(probability, -1.0);
    const Tensor scaled = formula::product(both, falling);
    return formula::product(scaled, probability);
  };
  return formula::bending_gradient("LogSigmoidBackwardBackward", grad, x, first, bend);
}

Tensor softplus_backward(const Tensor& grad, const Tensor& x, double beta, double threshold) {
  const auto first = [beta, threshold](const Tensor& g, const Tensor& of) {
    return map_new(g, of, functors::SoftplusBackward{beta, threshold});
  };
  const auto bend = [beta, threshold](const Tensor& g, const Tensor& first_grad, const Tensor& of) {
    const Tensor both = formula::product(g, first_grad);
    const Tensor scaled = formula::times(of, beta);
    const Tensor is_bent = lt(scaled, threshold);
    const Tensor bent = cast(is_bent, both.dtype());
    const Tensor probability = sigmoid(scaled);
    const Tensor slope = sigmoid_gradient(both, probability);
    return formula::times(formula::product(slope, bent), beta);
  };
  return formula::bending_gradient("SoftplusBackwardBackward", grad, x, first, bend);
}

// Step by step where it is recorded.
Tensor mish_backward(const Tensor& grad, const Tensor& x) {
  if (!formula::is_recorded()) return map_new(grad, x, functors::MishBackward());
  const Tensor probability = sigmoid(x);
  const Tensor softened = log1p(exp(x));
  const Tensor t = tanh(softened);
  const Tensor squares = mul(t, t);
  const Tensor rest = rsub(squares, 1.0);
  const Tensor scaled = mul(x, probability);
  const Tensor bent = mul(scaled, rest);
  const Tensor slope = add(t, bent);
  return mul(grad, slope);
}

// The values or the gates of what glu is given. A view without a graph.
Tensor half_of(const Tensor& whole, int position, std::int64_t number) {
  Shape sizes = whole.shape();
  sizes[position] /= 2;
  const std::int64_t start = number * sizes[position] * whole.strides()[position];
  return make_view(whole, sizes, whole.strides(), whole.impl()->offset + start);
}

Tensor glu_gradient(const Tensor& grad, const Tensor& whole, int position) {
  Tensor out = empty(whole.shape(), options_of(whole));
  const Tensor values = half_of(whole, position, 0);
  const Tensor gates = half_of(whole, position, 1);
  map_floating(half_of(out, position, 0), out.dtype(), functors::Gated(), grad, gates);
  map_floating(half_of(out, position, 1), out.dtype(), functors::GateBackward(), grad, values,
               gates);
  return out;
}

// The slope of glu's gradient by the input. With s = sigmoid(gates) it is, for the values,
// gates' gradient · grad · s(1 − s).
Tensor glu_bend(const Tensor& grad, const Tensor& first_grad, const Tensor& whole, int position) {
  const std::int64_t size = whole.shape()[position] / 2;
  const Tensor values = narrow(whole, position, 0, size);
  const Tensor gates = narrow(whole, position, size, size);
  const Tensor s = sigmoid(gates);
  const Tensor rest = rsub(s, 1.0);
  const Tensor slope = mul(s, rest);
  const Tensor of_values = narrow(grad, position, 0, size);
  const Tensor of_gates = narrow(grad, position, size, size);
  const Tensor weighted = mul(of_gates, values);
  Tensor bend;  // outlives both halves
  Tensor value_half;
  {
    const Tensor both = mul(of_gates, first_grad);
    value_half = mul(both, slope);
  }
  {
    const Tensor falling = mul(s, slope);
    const Tensor rising = mul(slope, rest);
    bend = sub(rising, falling);
  }
  Tensor gate_half;
  {
    const Tensor of_value = mul(of_values, first_grad);
    const Tensor straight = mul(of_value, slope);
    const Tensor of_gate = mul(weighted, first_grad);
    const Tensor bent = mul(of_gate, bend);
    gate_half = add(bent, straight);
  }
  return cat({value_half, gate_half}, position);
}

Tensor glu_backward(const Tensor& grad, const Tensor& whole, int position) {
  Tensor out = glu_gradient(grad, whole, position);
  if (Recorder record("GluBackwardBackward", {&grad, &whole}); record.is_needed()) {
    record.save(record.needs(1) ? grad : Tensor());
    record.save(whole);
    record.attach_differentiable(out, [position](BackwardCall& call) {
      TensorList grads(2);
      const Tensor input = call.saved(1);
      const std::int64_t size = input.shape()[position] / 2;
      if (call.needs(0)) {
        Tensor products;
        {
          const Tensor ones_of_result =
              ones(half_of(input, position, 0).shape(), options_of(input));
          const Tensor slope = glu_backward(ones_of_result, input, position);
          products = mul(call.grad(), slope);
        }
        grads[0] = add(narrow(products, position, 0, size), narrow(products, position, size, size));
      }
      if (call.needs(1)) grads[1] = glu_bend(call.grad(), call.saved(0), input, position);
      return grads;
    });
  }
  return out;
}

}  // namespace

Tensor relu(const Tensor& input) {
  const OpFront front(kRelu);
  forbid_booleans(kRelu, input);
  Tensor out = empty_for_loop(input.shape(), {&input}, options_of(input));
  map_elements(out, input.dtype(), functors::Relu(), input);
  Recorder record(kReluNode, {&input});
  attach_relu(record, out);
  return out;
}

Tensor relu_(const Tensor& input) {
  const OpFront front(kReluInplace);
  forbid_booleans(kReluInplace, input);
  Recorder record = Recorder::overwriting(kReluInplace.name, kReluNode, {&input});
  begin_inplace_write(input, kReluInplace.name);
  map_elements(input, input.dtype(), functors::Relu(), input);
  attach_relu(record, input);
  return input;
}

// grad · y · (1 − y), in one kernel.
Tensor sigmoid_gradient(const Tensor& grad, const Tensor& y) {
  const auto first = [](const Tensor& g, const Tensor& result) {
    return map_new(g, result, functors::SigmoidBackward());
  };
  const auto bend = [](const Tensor& g, const Tensor& first_grad, const Tensor& result) {
    const Tensor doubled = formula::times(result, -2.0);
    const Tensor slope = formula::plus(doubled, 1.0);
    const Tensor both = formula::product(g, first_grad);
    return formula::product(both, slope);
  };
  return formula::bending_gradient("SigmoidBackwardBackward", grad, y, first, bend);
}

// grad · (1 − y²), in one kernel.
Tensor tanh_gradient(const Tensor& grad, const Tensor& y) {
  const auto first = [](const Tensor& g, const Tensor& result) {
    return map_new(g, result, functors::TanhBackward());
  };
  const auto bend = [](const Tensor& g, const Tensor& first_grad, const Tensor& result) {
    const Tensor slope = formula::times(result, -2.0);
    const Tensor scaled = formula::product(slope, first_grad);
    return formula::product(g, scaled);
  };
  return formula::bending_gradient("TanhBackwardBackward", grad, y, first, bend);
}

Tensor sigmoid(const Tensor& input) {
  return unary_keeping_result<Integers::read_as_float32>(
      kSigmoid, "SigmoidBackward", input, functors::Sigmoid(), Formula(&sigmoid_gradient));
}

Tensor tanh(const Tensor& input) {
  return unary_keeping_result<Integers::read_as_float32>(kTanh, "TanhBackward", input,
                                                         functors::Tanh(), Formula(&tanh_gradient));
}

Tensor gelu(const Tensor& input, const std::string& approximate) {
  if (approximate == "tanh") {
    return unary_keeping_input(kGelu, "GeluBackward", input, functors::TanhGelu(),
                               Formula([](const Tensor& grad, const Tensor& x) {
                                 return gelu_backward(grad, x, functors::TanhGeluBackward(),
                                                      &tanh_gelu_bend);
                               }));
  }
  if (approximate == "none") {
    return unary_keeping_input(kGelu, "GeluBackward", input, functors::Gelu(),
                               Formula([](const Tensor& grad, const Tensor& x) {
                                 return gelu_backward(grad, x, functors::GeluBackward(),
                                                      &gelu_bend);
                               }));
  }
  throw std::invalid_argument(
      fmt::format("[gelu] approximate must be \"none\" or \"tanh\", not \"{}\"", approximate));
}

Tensor silu(const Tensor& given, bool inplace) {
  constexpr functors::Silu kForward;
  const Formula gradient(
      [](const Tensor& grad, const Tensor& x) { return silu_backward(grad, x); });
  if (!inplace) return unary_keeping_input(kSilu, "SiluBackward", given, kForward, gradient);
  return overwritten_keeping_input(kSilu, "SiluBackward", given, kForward, gradient);
}

Tensor mish(const Tensor& input, bool inplace) {
  constexpr functors::Mish kForward;
  const Formula gradient(
      [](const Tensor& grad, const Tensor& x) { return mish_backward(grad, x); });
  if (!inplace) return unary_keeping_input(kMish, "MishBackward", input, kForward, gradient);
  return overwritten_keeping_input(kMish, "MishBackward", input, kForward, gradient);
}

Tensor softplus(const Tensor& input, double beta, double threshold) {
  return unary_keeping_input(kSoftplus, "SoftplusBackward", input,
                             functors::Softplus{beta, threshold},
                             Formula([beta, threshold](const Tensor& grad, const Tensor& x) {
                               return softplus_backward(grad, x, beta, threshold);
                             }));
}

Tensor logsigmoid(const Tensor& input) {
  const OpFront front(kLogSigmoid);
  const Tensor x = front.input(input);
  require_floating(x, kLogSigmoid);
  Recorder record("LogSigmoidBackward", {&x});
  record.save(x);
  Tensor out = map_new(x, functors::LogSigmoid());
  record.attach_differentiable(out, [](BackwardCall& call) {
    return TensorList{log_sigmoid_backward(call.grad(), call.saved(0))};
  });
  return out;
}

Tensor glu(const Tensor& input, std::int64_t dim) {
  const OpFront front(kGlu);
  require_floating(input, kGlu);
  const int position = wrap_dim(dim, input.dims(), "glu");
  if (input.dims() == 0 || input.shape()[position] % 2 != 0) {
    throw std::invalid_argument(
        fmt::format("[glu] halving dimension must be even, but dimension {} of {} is not", position,
                    input.shape().str()));
  }
  const Tensor values = half_of(input, position, 0);
  Recorder record("GluBackward", {&input});
  record.save(input);
  const Tensor gates = half_of(input, position, 1);
  Tensor out = empty_for_loop(values.shape(), {&values, &gates}, options_of(input));
  map_floating(out, input.dtype(), functors::Gated(), values, gates);
  record.attach_differentiable(out, [position](BackwardCall& call) {
    return TensorList{glu_backward(call.grad(), call.saved(0), position)};
  });
  return out;
}

namespace {

Tensor relu_row(const Tensor& input, bool inplace) { return inplace ? relu_(input) : relu(input); }

}  // namespace

std::vector<OpDef> activation_ops() {
  constexpr unsigned kEverywhere = kFunction | kMethod | kFunctional;
  const ParamName inplace{"inplace", false};
  return {
      define(kRelu, kEverywhere, &relu_row, {"input", inplace}),
      define(kReluInplace, kEverywhere | kCppFunctional, &relu_, {"input"}),
      define(kSigmoid, kEverywhere, &sigmoid, {"input"}),
      define(kTanh, kEverywhere, &tanh, {"input"}),
      define(kGelu, kCppFunctional, &gelu, {"input", {"approximate", std::string("none")}}),
      define(kSilu, kFunctional, &silu, {"input", inplace}),
      define(kMish, kFunctional, &mish, {"input", inplace}),
      define(kSoftplus, kCppFunctional, &softplus, {"input", {"beta", 1.0}, {"threshold", 20.0}}),
      define(kLogSigmoid, kCppFunctional, &logsigmoid, {"input"}),
      define(kGlu, kFunctional, &glu, {"input", {"dim", std::int64_t{-1}}}),
  };
}

}  // namespace ohm::ops
