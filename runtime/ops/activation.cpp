#include "runtime/ops/activation.h"

#include <cmath>

#include "runtime/ops/pointwise_kernel.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kRelu{"relu"};
constexpr OpInfo kReluInplace{"relu_"};
constexpr OpInfo kSigmoid{"sigmoid"};
constexpr OpInfo kTanh{"tanh"};
constexpr OpInfo kGelu{"gelu"};
constexpr OpInfo kSilu{"silu"};
constexpr OpInfo kLeakyRelu{"leaky_relu"};

constexpr double kInverseSqrt2 = 0.70710678118654752;
constexpr double kInverseSqrt2Pi = 0.39894228040143268;

// NaN stays NaN: the comparison is false for it.
constexpr auto kReluForward = [](auto x) { return x < decltype(x){} ? decltype(x){} : x; };
constexpr auto kReluBackward = [](auto grad, auto result) {
  return result > decltype(result){} ? grad : decltype(grad){};
};

template <class T>
T sigmoid_of(T x) {
  return T(1) / (T(1) + std::exp(-x));
}

void record_relu(const Tensor& input, const Tensor& out) {
  if (Recorder record("ReluBackward", {&input}); record.is_needed()) {
    record.save_output(out);
    record.attach(out, [](BackwardCall& call) {
      return TensorList{map_new(call.grad(), call.saved(0), kReluBackward)};
    });
  }
}

// Inputs on both sides of zero, none of them near it: relu has a kink there.
std::vector<Sample> away_from_zero() {
  const TensorOptions options{DType::float64, Device::cpu()};
  return {{from_values({-1.5, -0.4, 0.3, 0.9, 1.7, -2.2}, {2, 3}, options)}};
}

std::vector<Sample> away_from_zero_with_slope() {
  std::vector<Sample> samples = away_from_zero();
  samples[0].emplace_back(0.01);
  return samples;
}

}  // namespace

Tensor relu(const Tensor& input) {
  const OpFront front(kRelu);
  Tensor out = empty_like(input);
  visit_dtype(input.dtype(),
              [&]<class T>(TypeTag<T>) { map_unary<T, T>(out, input, kReluForward); });
  record_relu(input, out);
  return out;
}

Tensor relu_(const Tensor& input) {
  const OpFront front(kReluInplace);
  begin_inplace_write(input, kReluInplace.name);
  visit_dtype(input.dtype(),
              [&]<class T>(TypeTag<T>) { map_unary<T, T>(input, input, kReluForward); });
  record_relu(input, input);
  return input;
}

Tensor sigmoid(const Tensor& input) {
  return unary_keeping_result(
      kSigmoid, "SigmoidBackward", input, [](auto x) { return sigmoid_of(x); },
      [](auto grad, auto y) { return grad * y * (decltype(y)(1) - y); });
}

Tensor tanh(const Tensor& input) {
  return unary_keeping_result(
      kTanh, "TanhBackward", input, [](auto x) { return std::tanh(x); },
      [](auto grad, auto y) { return grad * (decltype(y)(1) - y * y); });
}

Tensor gelu(const Tensor& input) {
  return unary_keeping_input(
      kGelu, "GeluBackward", input,
      [](auto x) {
        using T = decltype(x);
        return static_cast<T>(0.5) * x * (T(1) + static_cast<T>(std::erf(x * T(kInverseSqrt2))));
      },
      [](auto grad, auto x) {
        using T = decltype(x);
        const T cdf = static_cast<T>(0.5) * (T(1) + static_cast<T>(std::erf(x * T(kInverseSqrt2))));
        const T pdf = static_cast<T>(std::exp(static_cast<T>(-0.5) * x * x)) * T(kInverseSqrt2Pi);
        return grad * (cdf + x * pdf);
      });
}

Tensor silu(const Tensor& input) {
  return unary_keeping_input(
      kSilu, "SiluBackward", input, [](auto x) { return x * sigmoid_of(x); },
      [](auto grad, auto x) {
        const auto s = sigmoid_of(x);
        return grad * s * (decltype(x)(1) + x * (decltype(x)(1) - s));
      });
}

Tensor leaky_relu(const Tensor& input, double negative_slope) {
  return unary_keeping_input(
      kLeakyRelu, "LeakyReluBackward", input,
      [negative_slope](auto x) {
        return x > decltype(x){} ? x : x * static_cast<decltype(x)>(negative_slope);
      },
      [negative_slope](auto grad, auto x) {
        return x > decltype(x){} ? grad : grad * static_cast<decltype(x)>(negative_slope);
      });
}

std::vector<OpDef> activation_ops() {
  constexpr unsigned kEverywhere = kFunction | kMethod | kFunctional;
  return {
      define(kRelu, kEverywhere, &relu, {"input"}, away_from_zero),
      define(kReluInplace, kEverywhere, &relu_, {"input"}),
      define(kSigmoid, kEverywhere, &sigmoid, {"input"}, away_from_zero),
      define(kTanh, kEverywhere, &tanh, {"input"}, away_from_zero),
      define(kGelu, kFunctional, &gelu, {"input"}, away_from_zero),
      define(kSilu, kFunctional, &silu, {"input"}, away_from_zero),
      define(kLeakyRelu, kFunctional, &leaky_relu, {"input", {"negative_slope", 0.01}},
             away_from_zero_with_slope),
  };
}

}  // namespace ohm::ops
