// Functors of the updates of optimizers, for one element, as in activation.h.
#pragma once

#include <cmath>

#include "runtime/base/wrapping.h"

namespace ohm::functors {

/// (1 − share) · x + share · y
struct Lerp {
  static constexpr const char* kKernel = "lerp";
  double share;
  template <class T>
  constexpr T operator()(T x, T y) const {
    return x + static_cast<T>(share) * (y - x);
  }
};

/// keep · x + share · y²
struct BlendedSquares {
  static constexpr const char* kKernel = "blended_squares";
  double keep;
  double share;
  template <class T>
  constexpr T operator()(T x, T y) const {
    return static_cast<T>(keep) * x + static_cast<T>(share) * y * y;
  }
};

/// x + factor · y · z
struct Addcmul {
  static constexpr const char* kKernel = "addcmul";
  double factor;
  template <class T>
  constexpr T operator()(T x, T y, T z) const {
    return wrapping_sum(x, wrapping_product(wrapping_product(static_cast<T>(factor), y), z));
  }
};

/// x + factor · y / z
struct Addcdiv {
  static constexpr const char* kKernel = "addcdiv";
  double factor;
  template <class T>
  constexpr T operator()(T x, T y, T z) const {
    return x + static_cast<T>(factor) * y / z;
  }
};

/// x / divisor + number
struct DividedAndShifted {
  static constexpr const char* kKernel = "divided_and_shifted";
  double divisor;
  double number;
  template <class T>
  constexpr T operator()(T x) const {
    return x / static_cast<T>(divisor) + static_cast<T>(number);
  }
};

/// factor · y, whatever was there.
struct Replaced {
  static constexpr const char* kKernel = "replaced";
  double factor;
  template <class T>
  constexpr T operator()(T /*x*/, T y) const {
    return static_cast<T>(factor) * y;
  }
};

/// √(x + number)
struct RootOfShifted {
  static constexpr const char* kKernel = "root_of_shifted";
  double number;
  template <class T>
  constexpr T operator()(T x) const {
    return std::sqrt(x + static_cast<T>(number));
  }
};
/// √x + number
struct RootPlus {
  static constexpr const char* kKernel = "root_plus";
  double number;
  template <class T>
  constexpr T operator()(T x) const {
    return static_cast<T>(std::sqrt(x)) + static_cast<T>(number);
  }
};
/// √(square − mean²) + number
struct DeviationPlus {
  static constexpr const char* kKernel = "deviation_plus";
  double number;
  template <class T>
  constexpr T operator()(T square, T mean) const {
    return static_cast<T>(std::sqrt(square - mean * mean)) + static_cast<T>(number);
  }
};
/// |x| + number
struct MagnitudePlus {
  static constexpr const char* kKernel = "magnitude_plus";
  double number;
  template <class T>
  constexpr T operator()(T x) const {
    return static_cast<T>(std::abs(x)) + static_cast<T>(number);
  }
};

/// x / y · z
struct QuotientTimes {
  static constexpr const char* kKernel = "quotient_times";
  template <class T>
  constexpr T operator()(T x, T y, T z) const {
    return x / y * z;
  }
};

/// The larger one of keep · x and y.
struct DecayedMaximum {
  static constexpr const char* kKernel = "decayed_maximum";
  double keep;
  template <class T>
  constexpr T operator()(T x, T y) const {
    const T decayed = static_cast<T>(keep) * x;
    return decayed > y ? decayed : y;
  }
};

/// numerator / (x + eps) + number
struct ShiftedInverse {
  static constexpr const char* kKernel = "shifted_inverse";
  double numerator;
  double eps;
  double number;
  template <class T>
  constexpr T operator()(T x) const {
    return static_cast<T>(numerator) / (x + static_cast<T>(eps)) + static_cast<T>(number);
  }
};

/// What a step's size is multiplied with, by the sign of how the gradient went on.
struct FactorOfSign {
  static constexpr const char* kKernel = "factor_of_sign";
  double positive;
  double negative;
  template <class T>
  constexpr T operator()(T x) const {
    if (x > T(0)) return static_cast<T>(positive);
    return x < T(0) ? static_cast<T>(negative) : T(1);
  }
};
struct ClampedProduct {
  static constexpr const char* kKernel = "clamped_product";
  double min;
  double max;
  template <class T>
  constexpr T operator()(T x, T y) const {
    const T product = x * y;
    if (product < static_cast<T>(min)) return static_cast<T>(min);
    return static_cast<T>(max) < product ? static_cast<T>(max) : product;
  }
};
/// x, and 0 where y is the number.
struct DroppedWhere {
  static constexpr const char* kKernel = "dropped_where";
  double number;
  template <class T>
  constexpr T operator()(T x, T y) const {
    return y == static_cast<T>(number) ? T(0) : x;
  }
};

// ---- fused steps --------------------------------------------------------------------------------
// A kernel reads gradient, parameter and state, and changes what it reads in its registers.

/// The gradient that an update uses.
struct UsedGradient {
  double sign;
  double decay;
  template <class T>
  constexpr T of(T g, T p) const {
    return static_cast<T>(sign) * g + static_cast<T>(decay) * p;
  }
};

struct FusedFirstMoment {
  static constexpr const char* kKernel = "fused_first_moment";
  UsedGradient gradient;
  double share;
  template <class T>
  constexpr T operator()(T m, T g, T p) const {
    return Lerp{share}(m, gradient.of(g, p));
  }
};

struct FusedSecondMoment {
  static constexpr const char* kKernel = "fused_second_moment";
  UsedGradient gradient;
  double keep;
  template <class T>
  constexpr T operator()(T v, T g, T p) const {
    return BlendedSquares{keep, 1.0 - keep}(v, gradient.of(g, p));
  }
};

/// p − step_size · m / (√v / sqrt_second + eps)
struct FusedAdamStep {
  static constexpr const char* kKernel = "fused_adam_step";
  double step_size;
  double sqrt_second;
  double eps;
  template <class T>
  constexpr T operator()(T p, T m, T v) const {
    const T root = static_cast<T>(std::sqrt(v));
    return Addcdiv{-step_size}(p, m, DividedAndShifted{sqrt_second, eps}(root));
  }
};

struct FusedSgdStep {
  static constexpr const char* kKernel = "fused_sgd_step";
  UsedGradient gradient;
  double lr;
  template <class T>
  constexpr T operator()(T p, T g) const {
    return p - static_cast<T>(lr) * gradient.of(g, p);
  }
};

/// keep · v + share · gradient
struct FusedMomentum {
  static constexpr const char* kKernel = "fused_momentum";
  UsedGradient gradient;
  double keep;
  double share;
  template <class T>
  constexpr T operator()(T v, T g, T p) const {
    return static_cast<T>(keep) * v + static_cast<T>(share) * gradient.of(g, p);
  }
};

/// What the momentum begins as.
struct FusedFirstMomentum {
  static constexpr const char* kKernel = "fused_first_momentum";
  UsedGradient gradient;
  template <class T>
  constexpr T operator()(T /*v*/, T g, T p) const {
    return gradient.of(g, p);
  }
};

struct FusedMomentumStep {
  static constexpr const char* kKernel = "fused_momentum_step";
  UsedGradient gradient;
  double lr;
  double momentum;
  bool nesterov;
  template <class T>
  constexpr T operator()(T p, T g, T v) const {
    const T ahead = gradient.of(g, p) + static_cast<T>(momentum) * v;
    return p - static_cast<T>(lr) * (nesterov ? ahead : v);
  }
};

}  // namespace ohm::functors
