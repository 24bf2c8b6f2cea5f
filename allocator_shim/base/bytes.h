// Byte literals: 20_MiB reads as what it is. KiB, MiB, GiB and TiB are powers of 1024.
#pragma once

#include <cstddef>

namespace ohm {

inline namespace byte_literals {

constexpr std::size_t operator""_KiB(unsigned long long n) {
  return static_cast<std::size_t>(n) << 10U;
}
constexpr std::size_t operator""_MiB(unsigned long long n) {
  return static_cast<std::size_t>(n) << 20U;
}
constexpr std::size_t operator""_GiB(unsigned long long n) {
  return static_cast<std::size_t>(n) << 30U;
}
constexpr std::size_t operator""_TiB(unsigned long long n) {
  return static_cast<std::size_t>(n) << 40U;
}

}  // namespace byte_literals

}  // namespace ohm
