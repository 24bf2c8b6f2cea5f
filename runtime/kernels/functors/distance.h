// Distances of a prediction from its target, for one element: formulas, as in activation.h.
#pragma once

#include <algorithm>
#include <cmath>

namespace ohm::formulas {

// Each has its value, its slope by the first operand, and names for the kernels that are made of
// them.

struct SquaredError {
  static constexpr const char* kValue = "squared_error";
  static constexpr const char* kSlope = "squared_error_slope";
  static constexpr const char* kWeightedSlope = "squared_error_weighted_slope";
  template <class T>
  constexpr T value(T x, T t) const {
    return (x - t) * (x - t);
  }
  template <class T>
  constexpr T slope(T x, T t) const {
    return T(2) * (x - t);
  }
};

struct SmoothL1 {
  static constexpr const char* kValue = "smooth_l1";
  static constexpr const char* kSlope = "smooth_l1_slope";
  static constexpr const char* kWeightedSlope = "smooth_l1_weighted_slope";
  double beta;
  template <class T>
  constexpr T value(T x, T t) const {
    const T distance = std::abs(x - t);
    const T edge = static_cast<T>(beta);
    return distance < edge ? distance * distance / (T(2) * edge) : distance - edge / T(2);
  }
  template <class T>
  constexpr T slope(T x, T t) const {
    const T difference = x - t;
    const T edge = static_cast<T>(beta);
    if (difference <= -edge) return T(-1);
    return difference >= edge ? T(1) : difference / edge;
  }
};

struct Huber {
  static constexpr const char* kValue = "huber";
  static constexpr const char* kSlope = "huber_slope";
  static constexpr const char* kWeightedSlope = "huber_weighted_slope";
  double delta;
  template <class T>
  constexpr T value(T x, T t) const {
    const T distance = std::abs(x - t);
    const T edge = static_cast<T>(delta);
    return distance <= edge ? distance * distance / T(2) : edge * (distance - edge / T(2));
  }
  template <class T>
  constexpr T slope(T x, T t) const {
    const T difference = x - t;
    const T edge = static_cast<T>(delta);
    if (difference <= -edge) return -edge;
    return difference >= edge ? edge : difference;
  }
};

/// Of a probability from its target: no logarithm is below −100.
struct CrossEntropy {
  static constexpr const char* kValue = "cross_entropy";
  static constexpr const char* kSlope = "cross_entropy_slope";
  static constexpr const char* kWeightedSlope = "cross_entropy_weighted_slope";
  template <class T>
  constexpr T value(T x, T t) const {
    const T log_x = std::max(static_cast<T>(std::log(x)), T(-100));
    const T log_rest = std::max(static_cast<T>(std::log1p(-x)), T(-100));
    return (t - T(1)) * log_rest - t * log_x;
  }
  template <class T>
  constexpr T slope(T x, T t) const {
    return (x - t) / std::max((T(1) - x) * x, static_cast<T>(1e-12));
  }
};
/// The same loss by its target, which it is linear in.
struct CrossEntropyOfTarget {
  static constexpr const char* kSlope = "cross_entropy_target_slope";
  static constexpr const char* kWeightedSlope = "cross_entropy_target_weighted_slope";
  template <class T>
  constexpr T slope(T /*t*/, T x) const {
    return static_cast<T>(std::log1p(-x)) - static_cast<T>(std::log(x));
  }
};

template <class Distance>
struct DistanceValue {
  static constexpr const char* kKernel = Distance::kValue;
  Distance distance;
  template <class T>
  constexpr T operator()(T x, T t) const {
    return distance.value(x, t);
  }
};

/// slope · scale
template <class Distance>
struct DistanceSlope {
  static constexpr const char* kKernel = Distance::kSlope;
  Distance distance;
  double scale;
  template <class T>
  constexpr T operator()(T x, T t) const {
    return distance.slope(x, t) * static_cast<T>(scale);
  }
};

/// grad · slope · scale
template <class Distance>
struct DistanceWeightedSlope {
  static constexpr const char* kKernel = Distance::kWeightedSlope;
  Distance distance;
  double scale;
  template <class T>
  constexpr T operator()(T grad, T x, T t) const {
    return grad * distance.slope(x, t) * static_cast<T>(scale);
  }
};

using SquaredErrorValue = DistanceValue<SquaredError>;
using SquaredErrorSlope = DistanceSlope<SquaredError>;
using SquaredErrorWeightedSlope = DistanceWeightedSlope<SquaredError>;
using SmoothL1Value = DistanceValue<SmoothL1>;
using SmoothL1Slope = DistanceSlope<SmoothL1>;
using SmoothL1WeightedSlope = DistanceWeightedSlope<SmoothL1>;
using CrossEntropyValue = DistanceValue<CrossEntropy>;
using CrossEntropySlope = DistanceSlope<CrossEntropy>;
using CrossEntropyWeightedSlope = DistanceWeightedSlope<CrossEntropy>;
using CrossEntropyTargetSlope = DistanceSlope<CrossEntropyOfTarget>;
using CrossEntropyTargetWeightedSlope = DistanceWeightedSlope<CrossEntropyOfTarget>;
using HuberValue = DistanceValue<Huber>;
using HuberSlope = DistanceSlope<Huber>;
using HuberWeightedSlope = DistanceWeightedSlope<Huber>;

}  // namespace ohm::formulas
