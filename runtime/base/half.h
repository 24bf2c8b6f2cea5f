// Half-precision storage types: IEEE binary16 and bfloat16.
//
// They only store: arithmetic is done in float and rounded back to nearest even, with subnormals,
// infinities and NaNs as the hardware does it.
#pragma once

#include <bit>
#include <cstdint>

namespace ohm {

struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  explicit Half(float value);
  explicit operator float() const;
};

struct BFloat16 {
  std::uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value);
  explicit operator float() const;
};

inline Half::Half(float value) {
  constexpr std::uint32_t kInfinity = 0x7f800000U;
  constexpr std::uint32_t kOverflow = 0x477ff000U;        // 65,520: rounds to infinity from here on
  constexpr std::uint32_t kSmallestNormal = 0x38800000U;  // 2^-14
  const auto word = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((word >> 16U) & 0x8000U);
  const std::uint32_t magnitude = word & 0x7fffffffU;
  std::uint32_t half = 0;
  if (magnitude > kInfinity) {
    half = 0x7e00U | ((magnitude >> 13U) & 0x1ffU);
  } else if (magnitude >= kOverflow) {
    half = 0x7c00U;
  } else if (magnitude < kSmallestNormal) {
    // Adding 0.5 lines the last bit of a half subnormal up with the last bit of the float, so the
    // addition itself rounds to nearest even.
    const float aligned = std::bit_cast<float>(magnitude) + 0.5F;
    half = std::bit_cast<std::uint32_t>(aligned) - std::bit_cast<std::uint32_t>(0.5F);
  } else {
    const std::uint32_t is_odd = (magnitude >> 13U) & 1U;
    half = (magnitude - 0x38000000U + 0xfffU + is_odd) >> 13U;
  }
  bits = static_cast<std::uint16_t>(sign | half);
}

inline Half::operator float() const {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16U;
  const std::uint32_t exponent = (bits >> 10U) & 0x1fU;
  const std::uint32_t fraction = bits & 0x3ffU;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  const std::uint32_t wide_exponent = exponent == 0x1fU ? 0xffU : exponent + 112U;
  return std::bit_cast<float>(sign | (wide_exponent << 23U) | (fraction << 13U));
}

inline BFloat16::BFloat16(float value) {
  const auto word = std::bit_cast<std::uint32_t>(value);
  if ((word & 0x7fffffffU) > 0x7f800000U) {
    bits = static_cast<std::uint16_t>((word >> 16U) | 0x40U);  // stays a NaN
    return;
  }
  const std::uint32_t is_odd = (word >> 16U) & 1U;
  bits = static_cast<std::uint16_t>((word + 0x7fffU + is_odd) >> 16U);
}

inline BFloat16::operator float() const {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

}  // namespace ohm
