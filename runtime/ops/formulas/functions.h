// Functions of one element: formulas, as in activation.h.
#pragma once

#include <cmath>

namespace ohm::formulas {

struct Tangent {
  static constexpr const char* kKernel = "tangent";
  template <class T>
  constexpr T operator()(T x) const {
    return std::tan(x);
  }
};

struct ErrorFunction {
  static constexpr const char* kKernel = "error_function";
  template <class T>
  constexpr T operator()(T x) const {
    return std::erf(x);
  }
};

struct Logarithm2 {
  static constexpr const char* kKernel = "logarithm_2";
  template <class T>
  constexpr T operator()(T x) const {
    return std::log2(x);
  }
};

struct Logarithm10 {
  static constexpr const char* kKernel = "logarithm_10";
  template <class T>
  constexpr T operator()(T x) const {
    return std::log10(x);
  }
};

struct LogarithmOf1Plus {
  static constexpr const char* kKernel = "logarithm_of_1_plus";
  template <class T>
  constexpr T operator()(T x) const {
    return std::log1p(x);
  }
};

struct ExponentialMinus1 {
  static constexpr const char* kKernel = "exponential_minus_1";
  template <class T>
  constexpr T operator()(T x) const {
    return std::expm1(x);
  }
};

struct PowerOf2 {
  static constexpr const char* kKernel = "power_of_2";
  template <class T>
  constexpr T operator()(T x) const {
    return std::exp2(x);
  }
};

struct Floor {
  static constexpr const char* kKernel = "floor";
  template <class T>
  constexpr T operator()(T x) const {
    return std::floor(x);
  }
};

struct Ceiling {
  static constexpr const char* kKernel = "ceiling";
  template <class T>
  constexpr T operator()(T x) const {
    return std::ceil(x);
  }
};

struct Rounded {
  static constexpr const char* kKernel = "rounded";
  template <class T>
  constexpr T operator()(T x) const {
    return std::nearbyint(x);
  }
};

struct Reciprocal {
  static constexpr const char* kKernel = "reciprocal";
  template <class T>
  constexpr T operator()(T x) const {
    return T(1) / x;
  }
};

struct InverseSquareRoot {
  static constexpr const char* kKernel = "inverse_square_root";
  template <class T>
  constexpr T operator()(T x) const {
    return T(1) / std::sqrt(x);
  }
};

struct Cubed {
  static constexpr const char* kKernel = "cubed";
  template <class T>
  constexpr T operator()(T x) const {
    return x * x * x;
  }
};

struct Sine {
  static constexpr const char* kKernel = "sine";
  template <class T>
  constexpr T operator()(T x) const {
    return std::sin(x);
  }
};

struct Cosine {
  static constexpr const char* kKernel = "cosine";
  template <class T>
  constexpr T operator()(T x) const {
    return std::cos(x);
  }
};

struct HyperbolicSine {
  static constexpr const char* kKernel = "hyperbolic_sine";
  template <class T>
  constexpr T operator()(T x) const {
    return std::sinh(x);
  }
};

struct HyperbolicCosine {
  static constexpr const char* kKernel = "hyperbolic_cosine";
  template <class T>
  constexpr T operator()(T x) const {
    return std::cosh(x);
  }
};

struct ArcSine {
  static constexpr const char* kKernel = "arc_sine";
  template <class T>
  constexpr T operator()(T x) const {
    return std::asin(x);
  }
};

struct ArcCosine {
  static constexpr const char* kKernel = "arc_cosine";
  template <class T>
  constexpr T operator()(T x) const {
    return std::acos(x);
  }
};

struct ArcTangent {
  static constexpr const char* kKernel = "arc_tangent";
  template <class T>
  constexpr T operator()(T x) const {
    return std::atan(x);
  }
};

// ---- of two or three elements -------------------------------------------------------------------

struct Power {
  static constexpr const char* kKernel = "power";
  template <class T>
  constexpr T operator()(T x, T exponent) const {
    return std::pow(x, exponent);
  }
};

/// Of (x, y), seen from 0.
struct Angle {
  static constexpr const char* kKernel = "angle";
  template <class T>
  constexpr T operator()(T y, T x) const {
    return std::atan2(y, x);
  }
};

struct NumberOver {
  static constexpr const char* kKernel = "number_over";
  double number;
  template <class T>
  constexpr T operator()(T x) const {
    return static_cast<T>(number) / x;
  }
};

struct ExponentialOfDifference {
  static constexpr const char* kKernel = "exponential_of_difference";
  template <class T>
  constexpr T operator()(T x, T y) const {
    return std::exp(x - y);
  }
};

/// log(x) + y
struct LogarithmPlus {
  static constexpr const char* kKernel = "logarithm_plus";
  template <class T>
  constexpr T operator()(T x, T y) const {
    return std::log(x) + y;
  }
};

/// x · log(y), and 0 where x is 0, unless y is no number.
struct XLogY {
  static constexpr const char* kKernel = "x_log_y";
  template <class T>
  constexpr T operator()(T x, T y) const {
    return x == T(0) && y == y ? T(0) : x * std::log(y);
  }
};
/// grad · log(y): its slope by x.
struct XLogYSlope {
  static constexpr const char* kKernel = "x_log_y_slope";
  template <class T>
  constexpr T operator()(T grad, T y) const {
    return grad == T(0) ? grad : grad * std::log(y);
  }
};
/// A slope by x where there is one: 0 where x is 0 and y is not positive.
struct XLogYSlopeKept {
  static constexpr const char* kKernel = "x_log_y_slope_kept";
  template <class T>
  constexpr T operator()(T slope, T x, T y) const {
    return x == T(0) && y <= T(0) ? T(0) : slope;
  }
};

}  // namespace ohm::formulas
