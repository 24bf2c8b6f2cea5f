// Functions of one element: functors, as in activation.h.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

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

/// x / y towards 0, as C divides. Of integers that are divided by 0: 0.
struct TruncQuotient {
  static constexpr const char* kKernel = "trunc_quotient";
  template <class T>
  constexpr T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      if (y == T(0)) return T(0);
      if (y == T(-1)) return static_cast<T>(-static_cast<std::make_unsigned_t<T>>(x));
      return x / y;
    } else {
      return std::trunc(x / y);
    }
  }
};

/// x / y towards −infinity, as Python divides. Of integers that are divided by 0: 0.
struct FloorQuotient {
  static constexpr const char* kKernel = "floor_quotient";
  template <class T>
  constexpr T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      if (y == T(0)) return T(0);
      if (y == T(-1)) return static_cast<T>(-static_cast<std::make_unsigned_t<T>>(x));
      const T quotient = x / y;
      return x % y != 0 && (x < 0) != (y < 0) ? quotient - 1 : quotient;
    } else {
      if (y == T(0)) return x / y;
      // What a quotient lacks through rounding is found by the remainder.
      const T remainder = std::fmod(x, y);
      T quotient = (x - remainder) / y;
      if (remainder != T(0) && (y < T(0)) != (remainder < T(0))) quotient -= T(1);
      if (quotient == T(0)) return std::copysign(T(0), x / y);
      const T whole = std::floor(quotient);
      return quotient - whole > T(0.5) ? whole + T(1) : whole;
    }
  }
};

/// What that leaves of x, with the sign of y.
struct Remainder {
  static constexpr const char* kKernel = "remainder";
  template <class T>
  constexpr T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      if (y == T(0) || y == T(-1)) return T(0);
      const T rest = x % y;
      return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
    } else {
      const T rest = std::fmod(x, y);
      return rest != T(0) && (rest < T(0)) != (y < T(0)) ? rest + y : rest;
    }
  }
};

/// Numbers in the places of what is not a number, and of infinities.
struct NanToNum {
  static constexpr const char* kKernel = "nan_to_num";
  double of_nan;
  double of_positive;
  double of_negative;
  template <class T>
  constexpr T operator()(T x) const {
    if (x != x) return static_cast<T>(of_nan);
    if (x > std::numeric_limits<T>::max()) return static_cast<T>(of_positive);
    if (x < std::numeric_limits<T>::lowest()) return static_cast<T>(of_negative);
    return x;
  }
};

/// x + share · (y − x)
struct LerpBy {
  static constexpr const char* kKernel = "lerp_by";
  template <class T>
  constexpr T operator()(T x, T y, T share) const {
    return std::abs(share) < T(0.5) ? x + share * (y - x) : y - (y - x) * (T(1) - share);
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

/// x · log(y), and 0 where x is 0, unless y is not a number.
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
