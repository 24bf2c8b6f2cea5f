// A number that others are divided by again and again, as offsets are by sizes: for nvcc and the
// host alike.
#pragma once

#include <cstdint>

namespace ohm {

/// Divides what fits 32 bits by one multiplication, exactly: n / d is the upper half of n · M,
/// where M is 2⁶⁴ / d rounded up. Anything else by a division. Is a number in every other respect.
class Divisor {
 public:
  constexpr Divisor(std::int64_t value = 1)  // NOLINT(google-explicit-constructor)
      : value_(value), reciprocal_(is_small(value) && value > 1 ? ~0ULL / to_bits(value) + 1 : 0) {}
  constexpr operator std::int64_t() const { return value_; }  // NOLINT(google-explicit-constructor)

  friend constexpr std::int64_t operator/(std::int64_t number, const Divisor& divisor) {
    if (divisor.reciprocal_ == 0 || !is_small(number)) return number / divisor.value_;
    return static_cast<std::int64_t>(upper_half(to_bits(number), divisor.reciprocal_));
  }
  friend constexpr std::int64_t operator%(std::int64_t number, const Divisor& divisor) {
    return number - number / divisor * divisor.value_;
  }

 private:
  using Bits = unsigned long long;

  static constexpr Bits to_bits(std::int64_t number) { return static_cast<Bits>(number); }
  static constexpr bool is_small(std::int64_t number) { return to_bits(number) >> 32U == 0; }
  static constexpr Bits upper_half(Bits a, Bits b) {
#ifdef __CUDA_ARCH__
    return __umul64hi(a, b);
#else
    return static_cast<Bits>(__extension__ static_cast<unsigned __int128>(a) * b >> 64U);
#endif
  }

  std::int64_t value_;
  Bits reciprocal_;
};

}  // namespace ohm
