// Special functions of one element, and further functions of two: functors, as in activation.h.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

namespace ohm::functors {

struct Asinh {
  static constexpr const char* kKernel = "asinh";
  template <class T>
  constexpr T operator()(T x) const {
    return std::asinh(x);
  }
};

struct Acosh {
  static constexpr const char* kKernel = "acosh";
  template <class T>
  constexpr T operator()(T x) const {
    return std::acosh(x);
  }
};

struct Atanh {
  static constexpr const char* kKernel = "atanh";
  template <class T>
  constexpr T operator()(T x) const {
    return std::atanh(x);
  }
};

struct Erfc {
  static constexpr const char* kKernel = "erfc";
  template <class T>
  constexpr T operator()(T x) const {
    return std::erfc(x);
  }
};

/// What erf makes x of: a first guess by elementary functions, then steps of Halley's method.
struct Erfinv {
  static constexpr const char* kKernel = "erfinv";
  template <class T>
  constexpr T operator()(T x) const {
    if (!(std::abs(x) < T(1))) {
      return std::abs(x) == T(1) ? std::copysign(std::numeric_limits<T>::infinity(), x)
                                 : std::numeric_limits<T>::quiet_NaN();
    }
    const double wanted = static_cast<double>(x);
    const double logarithm = std::log1p(-wanted * wanted);
    const double half = 2.0 / (3.14159265358979323846 * 0.147) + 0.5 * logarithm;
    double guess =
        std::copysign(std::sqrt(std::sqrt(half * half - logarithm / 0.147) - half), wanted);
    for (int step = 0; step < 3; ++step) {
      const double error = std::erf(guess) - wanted;
      const double slope = 1.12837916709551257390 * std::exp(-guess * guess);
      guess -= error / (slope + guess * error);
    }
    return static_cast<T>(guess);
  }
};

/// log|Γ(x)|
struct Lgamma {
  static constexpr const char* kKernel = "lgamma";
  template <class T>
  constexpr T operator()(T x) const {
#ifdef __CUDA_ARCH__
    return std::lgamma(x);
#else
    int sign = 0;  // the other one writes it to a variable that threads share
    if constexpr (std::is_same_v<T, float>) {
      return lgammaf_r(x, &sign);
    } else {
      return static_cast<T>(lgamma_r(static_cast<double>(x), &sign));
    }
#endif
  }
};

/// The slope of log Γ: mirrored for negative numbers, moved up to where its series is exact.
struct Digamma {
  static constexpr const char* kKernel = "digamma";
  template <class T>
  constexpr T operator()(T x) const {
    if (x == T(0)) return std::copysign(std::numeric_limits<T>::infinity(), -x);
    return static_cast<T>(at(static_cast<double>(x)));
  }

 private:
  static constexpr double at(double x) {
    constexpr double kPi = 3.14159265358979323846;
    double mirrored = 0.0;
    if (x < 0.0) {
      if (x == std::trunc(x)) return std::numeric_limits<double>::quiet_NaN();
      mirrored = -kPi / std::tan(kPi * (x - std::trunc(x)));
      x = 1.0 - x;
    }
    double below = 0.0;
    for (; x < 10.0; x += 1.0) below -= 1.0 / x;
    const double z = 1.0 / (x * x);
    const double series =
        z * (1.0 / 12 -
             z * (1.0 / 120 -
                  z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760))))));
    return mirrored + below + std::log(x) - 0.5 / x - series;
  }
};

/// The slope of digamma, as exact as PyTorch's: six steps up, and three terms of the series.
struct Trigamma {
  static constexpr const char* kKernel = "trigamma";
  template <class T>
  constexpr T operator()(T x) const {
    return static_cast<T>(at(static_cast<double>(x)));
  }

 private:
  static constexpr double at(double x) {
    constexpr double kPi = 3.14159265358979323846;
    double sign = 1.0;
    double sum = 0.0;
    if (x < 0.5) {
      sign = -1.0;
      const double sine = std::sin(kPi * x);
      sum -= kPi * kPi / (sine * sine);
      x = 1.0 - x;
    }
    for (int step = 0; step < 6; ++step, x += 1.0) sum += 1.0 / (x * x);
    const double z = 1.0 / (x * x);
    const double series = z * (1.0 / 6 - z * (1.0 / 30 - z * (1.0 / 42)));
    return sign * (sum + (1.0 + 0.5 / x + series) / x);
  }
};

/// sin(πx) / πx
struct Sinc {
  static constexpr const char* kKernel = "sinc";
  template <class T>
  constexpr T operator()(T x) const {
    if (x == T(0)) return T(1);
    const T product = T(3.14159265358979323846) * x;
    return std::sin(product) / product;
  }
};

struct OneMinus {
  static constexpr const char* kKernel = "one_minus";
  template <class T>
  constexpr T operator()(T x) const {
    return T(1) - x;
  }
};

struct Trunc {
  static constexpr const char* kKernel = "trunc";
  template <class T>
  constexpr T operator()(T x) const {
    return std::trunc(x);
  }
};

struct Frac {
  static constexpr const char* kKernel = "frac";
  template <class T>
  constexpr T operator()(T x) const {
    return x - std::trunc(x);
  }
};

/// log(x / (1 − x)) of x between eps and 1 − eps; a negative eps bounds nothing.
struct Logit {
  static constexpr const char* kKernel = "logit";
  double eps;
  template <class T>
  constexpr T operator()(T x) const {
    const T low = static_cast<T>(eps);
    const T high = T(1) - low;
    if (low >= T(0)) x = x < low ? low : x > high ? high : x;
    return std::log(x / (T(1) - x));
  }
};
struct LogitBackward {
  static constexpr const char* kKernel = "logit_backward";
  double eps;
  template <class T>
  constexpr T operator()(T grad, T x) const {
    const bool is_bounded = eps >= 0.0;
    const T low = is_bounded ? static_cast<T>(eps) : T(0);
    if (x < low || x > T(1) - low) {
      return is_bounded ? T(0) : std::numeric_limits<T>::quiet_NaN();
    }
    return grad / (x * (T(1) - x));
  }
};

// ---- of two elements ----------------------------------------------------------------------------

/// log(eˣ + eʸ)
struct LogAddExp {
  static constexpr const char* kKernel = "log_add_exp";
  template <class T>
  constexpr T operator()(T x, T y) const {
    if (std::isinf(x) && x == y) return x;
    const T larger = x > y ? x : y;
    return larger + std::log1p(std::exp(-std::abs(x - y)));
  }
};

/// The same with powers of 2.
struct LogAddExp2 {
  static constexpr const char* kKernel = "log_add_exp_2";
  template <class T>
  constexpr T operator()(T x, T y) const {
    if (std::isinf(x) && x == y) return x;
    const T larger = x > y ? x : y;
    return larger + std::log1p(std::exp2(-std::abs(x - y))) * T(1.44269504088896340736);
  }
};

struct Hypot {
  static constexpr const char* kKernel = "hypot";
  template <class T>
  constexpr T operator()(T x, T y) const {
    return std::hypot(x, y);
  }
};

/// What is left of x / y, with the sign of x.
struct Fmod {
  static constexpr const char* kKernel = "fmod";
  template <class T>
  constexpr T operator()(T x, T y) const {
    return std::fmod(x, y);
  }
};

struct CopySign {
  static constexpr const char* kKernel = "copy_sign";
  template <class T>
  constexpr T operator()(T x, T y) const {
    return std::copysign(x, y);
  }
};

/// The larger (smaller) one, of which a NaN is neither: the other one.
struct LargerNumber {
  static constexpr const char* kKernel = "larger_number";
  template <class T>
  constexpr T operator()(T x, T y) const {
    return x >= y || y != y ? x : y;
  }
};
struct SmallerNumber {
  static constexpr const char* kKernel = "smaller_number";
  template <class T>
  constexpr T operator()(T x, T y) const {
    return x <= y || y != y ? x : y;
  }
};

/// 0 below 0, 1 above, and y at it.
struct Heaviside {
  static constexpr const char* kKernel = "heaviside";
  template <class T>
  constexpr T operator()(T x, T y) const {
    if (x == T(0)) return y;
    return x < T(0) ? T(0) : T(1);
  }
};

}  // namespace ohm::functors
