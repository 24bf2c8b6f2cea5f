// Arithmetic of elements: integers wrap, as they do on a GPU.
#pragma once

#include <cstdint>
#include <type_traits>

namespace ohm {

template <class T>
constexpr T wrapping_product(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  } else {
    return a * b;
  }
}

template <class T>
constexpr T wrapping_sum(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  } else {
    return a + b;
  }
}

template <class T>
constexpr T wrapping_difference(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  } else {
    return a - b;
  }
}

template <class T>
constexpr T wrapping_negation(T a) {
  if constexpr (std::is_integral_v<T>) {
    return wrapping_difference(T(0), a);
  } else {
    return -a;
  }
}

}  // namespace ohm
