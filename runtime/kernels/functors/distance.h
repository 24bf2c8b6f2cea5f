// Distances of a prediction from its target, for one element: functors, as in activation.h.
#pragma once

#include <algorithm>
#include <cmath>

namespace ohm::functors {

// Each has its value, its slope by the first operand, and names for the kernels that are made of
// them.

struct SquaredError {
  static constexpr const char* kValue = "squared_error";
  static constexpr const char* kBackward = "squared_error_backward";
  static constexpr const char* kWeightedBackward = "squared_error_weighted_backward";
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
  static constexpr const char* kBackward = "smooth_l1_backward";
  static constexpr const char* kWeightedBackward = "smooth_l1_weighted_backward";
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
  static constexpr const char* kBackward = "huber_backward";
  static constexpr const char* kWeightedBackward = "huber_weighted_backward";
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
  static constexpr const char* kBackward = "cross_entropy_backward";
  static constexpr const char* kWeightedBackward = "cross_entropy_weighted_backward";
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
  static constexpr const char* kBackward = "cross_entropy_target_backward";
  static constexpr const char* kWeightedBackward = "cross_entropy_target_weighted_backward";
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
struct DistanceBackward {
  static constexpr const char* kKernel = Distance::kBackward;
  Distance distance;
  double scale;
  template <class T>
  constexpr T operator()(T x, T t) const {
    return distance.slope(x, t) * static_cast<T>(scale);
  }
};

/// grad · slope · scale
template <class Distance>
struct DistanceWeightedBackward {
  static constexpr const char* kKernel = Distance::kWeightedBackward;
  Distance distance;
  double scale;
  template <class T>
  constexpr T operator()(T grad, T x, T t) const {
    return grad * distance.slope(x, t) * static_cast<T>(scale);
  }
};

using SquaredErrorValue = DistanceValue<SquaredError>;
using SquaredErrorBackward = DistanceBackward<SquaredError>;
using SquaredErrorWeightedBackward = DistanceWeightedBackward<SquaredError>;
using SmoothL1Value = DistanceValue<SmoothL1>;
using SmoothL1Backward = DistanceBackward<SmoothL1>;
using SmoothL1WeightedBackward = DistanceWeightedBackward<SmoothL1>;
using CrossEntropyValue = DistanceValue<CrossEntropy>;
using CrossEntropyBackward = DistanceBackward<CrossEntropy>;
using CrossEntropyWeightedBackward = DistanceWeightedBackward<CrossEntropy>;
using CrossEntropyTargetBackward = DistanceBackward<CrossEntropyOfTarget>;
using CrossEntropyTargetWeightedBackward = DistanceWeightedBackward<CrossEntropyOfTarget>;
using HuberValue = DistanceValue<Huber>;
using HuberBackward = DistanceBackward<Huber>;
using HuberWeightedBackward = DistanceWeightedBackward<Huber>;

}  // namespace ohm::functors
