// Functors of piecewise activations, for one element, as in activation.h.
#pragma once

#include <cmath>

namespace ohm::functors {

struct LeakyRelu {
  static constexpr const char* kKernel = "leaky_relu";
  double negative_slope;
  template <class T>
  constexpr T operator()(T x) const {
    return x > T(0) ? x : x * static_cast<T>(negative_slope);
  }
};
struct LeakyReluBackward {
  static constexpr const char* kKernel = "leaky_relu_backward";
  double negative_slope;
  template <class T>
  constexpr T operator()(T grad, T kept) const {
    return kept > T(0) ? grad : grad * static_cast<T>(negative_slope);
  }
};

/// scale · x above 0, scale · alpha (e^(steepness x) − 1) below.
struct ExponentialUnit {
  static constexpr const char* kKernel = "exponential_unit";
  double alpha;
  double scale;
  double steepness;
  template <class T>
  constexpr T operator()(T x) const {
    if (x > T(0)) return x * static_cast<T>(scale);
    return static_cast<T>(std::expm1(x * static_cast<T>(steepness))) *
           static_cast<T>(alpha * scale);
  }
};
struct ExponentialUnitBackward {
  static constexpr const char* kKernel = "exponential_unit_backward";
  ExponentialUnit unit;
  bool is_result;  ///< else the input was kept
  template <class T>
  constexpr T operator()(T grad, T kept) const {
    if (kept > T(0)) return grad * static_cast<T>(unit.scale);
    const T factor = static_cast<T>(unit.alpha * unit.scale);
    const T steepness = static_cast<T>(unit.steepness);
    const T grown = is_result ? kept + factor : static_cast<T>(std::exp(kept * steepness)) * factor;
    return grad * grown * steepness;
  }
};

/// Of what is cut off at both bounds.
struct ClampedBackward {
  static constexpr const char* kKernel = "clamped_backward";
  double min;
  double max;
  template <class T>
  constexpr T operator()(T grad, T kept) const {
    return kept > static_cast<T>(min) && kept < static_cast<T>(max) ? grad : T(0);
  }
};

/// x + 3, cut off at 0 and 6.
template <class T>
constexpr T ramp_of(T x) {
  const T row_index = x + T(3);
  return row_index < T(0) ? T(0) : (row_index > T(6) ? T(6) : row_index);
}

struct HardSigmoid {
  static constexpr const char* kKernel = "hard_sigmoid";
  template <class T>
  constexpr T operator()(T x) const {
    return ramp_of(x) / T(6);
  }
};
struct HardSigmoidBackward {
  static constexpr const char* kKernel = "hard_sigmoid_backward";
  template <class T>
  constexpr T operator()(T grad, T x) const {
    return x > T(-3) && x < T(3) ? grad / T(6) : T(0);
  }
};

struct HardSwish {
  static constexpr const char* kKernel = "hard_swish";
  template <class T>
  constexpr T operator()(T x) const {
    return x * ramp_of(x) / T(6);
  }
};
struct HardSwishBackward {
  static constexpr const char* kKernel = "hard_swish_backward";
  template <class T>
  constexpr T operator()(T grad, T x) const {
    if (x <= T(-3)) return T(0);
    return x < T(3) ? grad * (x / T(3) + static_cast<T>(0.5)) : grad;
  }
};

struct HardShrunk {
  static constexpr const char* kKernel = "hard_shrunk";
  double width;
  template <class T>
  constexpr T operator()(T x) const {
    return std::abs(x) <= static_cast<T>(width) ? T(0) : x;
  }
};
struct SoftShrunk {
  static constexpr const char* kKernel = "soft_shrunk";
  double width;
  template <class T>
  constexpr T operator()(T x) const {
    const T edge = static_cast<T>(width);
    return x > edge ? x - edge : (x < -edge ? x + edge : T(0));
  }
};
/// Of both.
struct ShrunkBackward {
  static constexpr const char* kKernel = "shrunk_backward";
  double width;
  template <class T>
  constexpr T operator()(T grad, T x) const {
    return std::abs(x) <= static_cast<T>(width) ? T(0) : grad;
  }
};

struct Threshold {
  static constexpr const char* kKernel = "threshold";
  double limit;
  double value;
  template <class T>
  constexpr T operator()(T x) const {
    return x <= static_cast<T>(limit) ? static_cast<T>(value) : x;
  }
};
struct ThresholdBackward {
  static constexpr const char* kKernel = "threshold_backward";
  double limit;
  template <class T>
  constexpr T operator()(T grad, T x) const {
    return x <= static_cast<T>(limit) ? T(0) : grad;
  }
};

/// A leaky relu whose slope is learned.
struct Prelu {
  static constexpr const char* kKernel = "prelu";
  template <class T>
  constexpr T operator()(T x, T slope) const {
    return x > T(0) ? x : x * slope;
  }
};
struct PreluBackward {
  static constexpr const char* kKernel = "prelu_backward";
  template <class T>
  constexpr T operator()(T grad, T x, T slope) const {
    return x > T(0) ? grad : grad * slope;
  }
};
/// By the learned slope.
struct PreluWeightBackward {
  static constexpr const char* kKernel = "prelu_weight_backward";
  template <class T>
  constexpr T operator()(T grad, T x) const {
    return x > T(0) ? T(0) : grad * x;
  }
};

}  // namespace ohm::functors
