// What the updates of optimizers compute for one element: formulas, as in activation.h.
#pragma once

namespace ohm::formulas {

/// (1 − share) · x + share · y
struct Blended {
  static constexpr const char* kKernel = "blended";
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

/// x + factor · y / z
struct AddedQuotient {
  static constexpr const char* kKernel = "added_quotient";
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

}  // namespace ohm::formulas
