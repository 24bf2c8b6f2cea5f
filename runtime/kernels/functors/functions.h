// Functions of one element: functors, as in activation.h.
#pragma once

#include <cmath>

namespace ohm::functors {

struct Tan {
  static constexpr const char* kKernel = "tan";
  template <class T>
  constexpr T operator()(T x) const {
    return std::tan(x);
  }
};

struct Erf {
  static constexpr const char* kKernel = "erf";
  template <class T>
  constexpr T operator()(T x) const {
    return std::erf(x);
  }
};

struct Log2 {
  static constexpr const char* kKernel = "log2";
  template <class T>
  constexpr T operator()(T x) const {
    return std::log2(x);
  }
};

struct Log10 {
  static constexpr const char* kKernel = "log10";
  template <class T>
  constexpr T operator()(T x) const {
    return std::log10(x);
  }
};

struct Log1p {
  static constexpr const char* kKernel = "log1p";
  template <class T>
  constexpr T operator()(T x) const {
    return std::log1p(x);
  }
};

struct Expm1 {
  static constexpr const char* kKernel = "expm1";
  template <class T>
  constexpr T operator()(T x) const {
    return std::expm1(x);
  }
};

struct Exp2 {
  static constexpr const char* kKernel = "exp2";
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

struct Ceil {
  static constexpr const char* kKernel = "ceil";
  template <class T>
  constexpr T operator()(T x) const {
    return std::ceil(x);
  }
};

struct Round {
  static constexpr const char* kKernel = "round";
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

struct Rsqrt {
  static constexpr const char* kKernel = "rsqrt";
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

struct Sin {
  static constexpr const char* kKernel = "sin";
  template <class T>
  constexpr T operator()(T x) const {
    return std::sin(x);
  }
};

struct Cos {
  static constexpr const char* kKernel = "cos";
  template <class T>
  constexpr T operator()(T x) const {
    return std::cos(x);
  }
};

struct Sinh {
  static constexpr const char* kKernel = "sinh";
  template <class T>
  constexpr T operator()(T x) const {
    return std::sinh(x);
  }
};

struct Cosh {
  static constexpr const char* kKernel = "cosh";
  template <class T>
  constexpr T operator()(T x) const {
    return std::cosh(x);
  }
};

struct Asin {
  static constexpr const char* kKernel = "asin";
  template <class T>
  constexpr T operator()(T x) const {
    return std::asin(x);
  }
};

struct Acos {
  static constexpr const char* kKernel = "acos";
  template <class T>
  constexpr T operator()(T x) const {
    return std::acos(x);
  }
};

struct Atan {
  static constexpr const char* kKernel = "atan";
  template <class T>
  constexpr T operator()(T x) const {
    return std::atan(x);
  }
};

// ---- of two or three elements -------------------------------------------------------------------

struct Pow {
  static constexpr const char* kKernel = "pow";
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
struct XLogYBackward {
  static constexpr const char* kKernel = "x_log_y_backward";
  template <class T>
  constexpr T operator()(T grad, T y) const {
    return grad == T(0) ? grad : grad * std::log(y);
  }
};
/// A slope by x where there is one: 0 where x is 0 and y is not positive.
struct XLogYBackwardKept {
  static constexpr const char* kKernel = "x_log_y_backward_kept";
  template <class T>
  constexpr T operator()(T slope, T x, T y) const {
    return x == T(0) && y <= T(0) ? T(0) : slope;
  }
};

}  // namespace ohm::functors
