// Functors of activations, for one element: for the host's loops, and for nvcc, which compiles the
// same text into kernels. Hence functors with a name, constexpr, and no include of ours.
//
// T is the type that the element is computed in. A slope is d/dx times the gradient, in terms of
// what the op keeps: its input x, or its result y.
#pragma once

#include <algorithm>
#include <cmath>

namespace ohm::functors {

template <class T>
constexpr T sigmoid_of(T x) {
  return T(1) / (T(1) + std::exp(-x));
}

template <class T>
constexpr T softplus_of(T x) {
  return std::max(x, T(0)) + std::log1p(std::exp(-std::abs(x)));
}

inline constexpr double kInverseSqrt2 = 0.70710678118654752;
inline constexpr double kInverseSqrt2Pi = 0.39894228040143268;
inline constexpr double kSqrt2OverPi = 0.79788456080286536;
inline constexpr double kCubic = 0.044715;  ///< of the approximation of gelu with tanh

/// NaN stays NaN: the comparison is false for it.
struct Relu {
  static constexpr const char* kKernel = "relu";
  template <class T>
  constexpr T operator()(T x) const {
    return x < T{} ? T{} : x;
  }
};
struct ReluBackward {
  static constexpr const char* kKernel = "relu_backward";
  template <class T>
  constexpr T operator()(T grad, T y) const {
    return y > T{} ? grad : T{};
  }
};

struct Sigmoid {
  static constexpr const char* kKernel = "sigmoid";
  template <class T>
  constexpr T operator()(T x) const {
    return sigmoid_of(x);
  }
};
struct SigmoidBackward {
  static constexpr const char* kKernel = "sigmoid_backward";
  template <class T>
  constexpr T operator()(T grad, T y) const {
    return grad * y * (T(1) - y);
  }
};

struct Tanh {
  static constexpr const char* kKernel = "tanh";
  template <class T>
  constexpr T operator()(T x) const {
    return std::tanh(x);
  }
};
struct TanhBackward {
  static constexpr const char* kKernel = "tanh_backward";
  template <class T>
  constexpr T operator()(T grad, T y) const {
    return grad * (T(1) - y * y);
  }
};

struct Gelu {
  static constexpr const char* kKernel = "gelu";
  template <class T>
  constexpr T operator()(T x) const {
    return static_cast<T>(0.5) * x * (T(1) + static_cast<T>(std::erf(x * T(kInverseSqrt2))));
  }
};
struct GeluBackward {
  static constexpr const char* kKernel = "gelu_backward";
  template <class T>
  constexpr T operator()(T grad, T x) const {
    const T cdf = static_cast<T>(0.5) * (T(1) + static_cast<T>(std::erf(x * T(kInverseSqrt2))));
    const T pdf = static_cast<T>(std::exp(static_cast<T>(-0.5) * x * x)) * T(kInverseSqrt2Pi);
    return grad * (cdf + x * pdf);
  }
};

/// x/2 · (1 + tanh(√(2/π) (x + c x³)))
struct TanhGelu {
  static constexpr const char* kKernel = "tanh_gelu";
  template <class T>
  static constexpr T inner(T x) {
    return T(kSqrt2OverPi) * (x + T(kCubic) * x * x * x);
  }
  template <class T>
  constexpr T operator()(T x) const {
    return static_cast<T>(0.5) * x * (T(1) + static_cast<T>(std::tanh(inner(x))));
  }
};
struct TanhGeluBackward {
  static constexpr const char* kKernel = "tanh_gelu_backward";
  template <class T>
  constexpr T operator()(T grad, T x) const {
    const T t = std::tanh(TanhGelu::inner(x));
    const T slope = T(kSqrt2OverPi) * (T(1) + T(3 * kCubic) * x * x);
    return grad * static_cast<T>(0.5) * (T(1) + t + x * (T(1) - t * t) * slope);
  }
};

struct Silu {
  static constexpr const char* kKernel = "silu";
  template <class T>
  constexpr T operator()(T x) const {
    return x * sigmoid_of(x);
  }
};
struct SiluBackward {
  static constexpr const char* kKernel = "silu_backward";
  template <class T>
  constexpr T operator()(T grad, T x) const {
    const T s = sigmoid_of(x);
    return grad * s * (T(1) + x * (T(1) - s));
  }
};

struct Mish {
  static constexpr const char* kKernel = "mish";
  template <class T>
  constexpr T operator()(T x) const {
    return x * std::tanh(softplus_of(x));
  }
};
struct MishBackward {
  static constexpr const char* kKernel = "mish_backward";
  template <class T>
  constexpr T operator()(T grad, T x) const {
    const T t = std::tanh(softplus_of(x));
    return grad * (t + x * sigmoid_of(x) * (T(1) - t * t));
  }
};

struct LogSigmoid {
  static constexpr const char* kKernel = "logsigmoid";
  template <class T>
  constexpr T operator()(T x) const {
    return -softplus_of(-x);
  }
};
struct LogSigmoidBackward {
  static constexpr const char* kKernel = "logsigmoid_backward";
  template <class T>
  constexpr T operator()(T grad, T x) const {
    return grad * sigmoid_of(-x);
  }
};

struct Softplus {
  static constexpr const char* kKernel = "softplus";
  double beta;
  double threshold;  ///< the identity beyond it
  template <class T>
  constexpr T operator()(T x) const {
    const T scaled = x * static_cast<T>(beta);
    return scaled > static_cast<T>(threshold) ? x : softplus_of(scaled) / static_cast<T>(beta);
  }
};
struct SoftplusBackward {
  static constexpr const char* kKernel = "softplus_backward";
  double beta;
  double threshold;
  template <class T>
  constexpr T operator()(T grad, T x) const {
    const T scaled = x * static_cast<T>(beta);
    return scaled > static_cast<T>(threshold) ? grad : grad * sigmoid_of(scaled);
  }
};

/// a · sigmoid(b), and its slopes.
struct Gated {
  static constexpr const char* kKernel = "gated";
  template <class T>
  constexpr T operator()(T a, T b) const {
    return a * sigmoid_of(b);
  }
};
struct GateBackward {
  static constexpr const char* kKernel = "gate_backward";
  template <class T>
  constexpr T operator()(T grad, T a, T b) const {
    const T s = sigmoid_of(b);
    return grad * a * s * (T(1) - s);
  }
};

}  // namespace ohm::functors
