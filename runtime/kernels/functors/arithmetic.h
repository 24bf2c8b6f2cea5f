// Functors of arithmetic, for one element, as in activation.h. Numbers of a program are
// members, converted to the type that the element is computed in.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "runtime/base/wrapping.h"

namespace ohm::functors {

// ---- of two elements ----------------------------------------------------------------------------

/// x + factor · y
struct ScaledSum {
  static constexpr const char* kKernel = "scaled_sum";
  double factor;
  template <class T>
  constexpr T operator()(T x, T y) const {
    return wrapping_sum(x, wrapping_product(static_cast<T>(factor), y));
  }
};

struct Difference {
  static constexpr const char* kKernel = "difference";
  template <class T>
  constexpr T operator()(T x, T y) const {
    return wrapping_difference(x, y);
  }
};

struct Product {
  static constexpr const char* kKernel = "product";
  template <class T>
  constexpr T operator()(T x, T y) const {
    return wrapping_product(x, y);
  }
};

struct Quotient {
  static constexpr const char* kKernel = "quotient";
  template <class T>
  constexpr T operator()(T x, T y) const {
    return x / y;
  }
};

/// The larger one; NaN where either is.
struct Maximum {
  static constexpr const char* kKernel = "maximum";
  template <class T>
  constexpr T operator()(T x, T y) const {
    return x > y || x != x ? x : y;
  }
};
struct Minimum {
  static constexpr const char* kKernel = "minimum";
  template <class T>
  constexpr T operator()(T x, T y) const {
    return x < y || x != x ? x : y;
  }
};

/// alpha · x + beta · y
struct WeightedSum {
  static constexpr const char* kKernel = "weighted_sum";
  double alpha;
  double beta;
  template <class T>
  constexpr T operator()(T x, T y) const {
    return static_cast<T>(alpha) * x + static_cast<T>(beta) * y;
  }
};

// ---- of one element and a number ----------------------------------------------------------------

struct Scaled {
  static constexpr const char* kKernel = "scaled";
  double factor;
  template <class T>
  constexpr T operator()(T x) const {
    return x * static_cast<T>(factor);
  }
};

struct Shifted {
  static constexpr const char* kKernel = "shifted";
  double number;
  template <class T>
  constexpr T operator()(T x) const {
    return x + static_cast<T>(number);
  }
};

struct Divided {
  static constexpr const char* kKernel = "divided";
  double divisor;
  template <class T>
  constexpr T operator()(T x) const {
    return x / static_cast<T>(divisor);
  }
};

struct PowScalar {
  static constexpr const char* kKernel = "pow_scalar";
  double power;
  template <class T>
  constexpr T operator()(T x) const {
    return power == 2.0 ? x * x : static_cast<T>(std::pow(x, static_cast<T>(power)));
  }
};

// ---- of one element -----------------------------------------------------------------------------

struct Neg {
  static constexpr const char* kKernel = "neg";
  template <class T>
  constexpr T operator()(T x) const {
    return wrapping_negation(x);
  }
};

struct Square {
  static constexpr const char* kKernel = "square";
  template <class T>
  constexpr T operator()(T x) const {
    return x * x;
  }
};

struct Exp {
  static constexpr const char* kKernel = "exp";
  template <class T>
  constexpr T operator()(T x) const {
    return std::exp(x);
  }
};

struct Log {
  static constexpr const char* kKernel = "log";
  template <class T>
  constexpr T operator()(T x) const {
    return std::log(x);
  }
};

struct Sqrt {
  static constexpr const char* kKernel = "sqrt";
  template <class T>
  constexpr T operator()(T x) const {
    return std::sqrt(x);
  }
};

struct Abs {
  static constexpr const char* kKernel = "abs";
  template <class T>
  constexpr T operator()(T x) const {
    return x < T(0) ? -x : x;
  }
};

/// −1, 0 or 1
struct Sign {
  static constexpr const char* kKernel = "sign";
  template <class T>
  constexpr T operator()(T x) const {
    return static_cast<T>((x > T(0)) - (x < T(0)));
  }
};

// ---- bounds -------------------------------------------------------------------------------------

/// `value` as a T: the nearest that there is; of what is not a number, the least integer.
template <class T>
constexpr T nearest(double value) {
  if constexpr (std::is_integral_v<T>) {
    if (value >= 0x1p63) return std::numeric_limits<T>::max();
    if (!(value >= -0x1p63)) return std::numeric_limits<T>::min();
  }
  return static_cast<T>(value);
}

/// A bound that is not there is infinite.
struct Clamp {
  static constexpr const char* kKernel = "clamp";
  double min;
  double max;
  template <class T>
  constexpr T operator()(T x) const {
    if (x < nearest<T>(min)) x = nearest<T>(min);
    if (x > nearest<T>(max)) x = nearest<T>(max);
    return x;
  }
};

// ---- comparisons --------------------------------------------------------------------------------

struct Equal {
  static constexpr const char* kKernel = "equal";
  template <class T>
  constexpr bool operator()(T x, T y) const {
    return x == y;
  }
};
/// Or both are NaN.
struct Same {
  static constexpr const char* kKernel = "same";
  template <class T>
  constexpr bool operator()(T x, T y) const {
    return x == y || (x != x && y != y);
  }
};
struct Unequal {
  static constexpr const char* kKernel = "unequal";
  template <class T>
  constexpr bool operator()(T x, T y) const {
    return x != y;
  }
};
struct Less {
  static constexpr const char* kKernel = "less";
  template <class T>
  constexpr bool operator()(T x, T y) const {
    return x < y;
  }
};
struct LessOrEqual {
  static constexpr const char* kKernel = "less_or_equal";
  template <class T>
  constexpr bool operator()(T x, T y) const {
    return x <= y;
  }
};
struct Greater {
  static constexpr const char* kKernel = "greater";
  template <class T>
  constexpr bool operator()(T x, T y) const {
    return x > y;
  }
};
struct GreaterOrEqual {
  static constexpr const char* kKernel = "greater_or_equal";
  template <class T>
  constexpr bool operator()(T x, T y) const {
    return x >= y;
  }
};
struct Both {
  static constexpr const char* kKernel = "both";
  template <class T>
  constexpr bool operator()(T x, T y) const {
    return x != T(0) && y != T(0);
  }
};

struct Either {
  static constexpr const char* kKernel = "either";
  template <class T>
  constexpr bool operator()(T x, T y) const {
    return x != T(0) || y != T(0);
  }
};

/// One of the two, but not both.
struct EitherAlone {
  static constexpr const char* kKernel = "either_alone";
  template <class T>
  constexpr bool operator()(T x, T y) const {
    return (x != T(0)) != (y != T(0));
  }
};

// ---- choices ------------------------------------------------------------------------------------

struct Where {
  static constexpr const char* kKernel = "where";
  template <class T>
  constexpr T operator()(T condition, T x, T y) const {
    return condition != T(0) ? x : y;
  }
};

/// x where the condition is as it is wanted, else 0.
struct Kept {
  static constexpr const char* kKernel = "kept";
  bool wanted;
  template <class T>
  constexpr T operator()(T x, T condition) const {
    return (condition != T(0)) == wanted ? x : T(0);
  }
};

/// A number where the mask is set, else x.
struct MaskedFill {
  static constexpr const char* kKernel = "masked_fill";
  double number;
  template <class T>
  constexpr T operator()(T x, T mask) const {
    return mask != T(0) ? nearest<T>(number) : x;
  }
};

/// What dropout lets through.
struct MaskedScaled {
  static constexpr const char* kKernel = "masked_scaled";
  double scale;
  template <class T>
  constexpr T operator()(T x, T mask) const {
    return x * mask * static_cast<T>(scale);
  }
};

}  // namespace ohm::functors
