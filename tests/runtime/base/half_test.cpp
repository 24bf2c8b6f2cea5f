// Half precision: what every bit pattern means, and how values are rounded to it.
#include "runtime/base/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace ohm::test {
namespace {

constexpr std::uint32_t kPatterns = 0x10000;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Half half_of(std::uint32_t bits) {
  Half half;
  half.bits = static_cast<std::uint16_t>(bits);
  return half;
}

BFloat16 bfloat16_of(std::uint32_t bits) {
  BFloat16 value;
  value.bits = static_cast<std::uint16_t>(bits);
  return value;
}

float value_of(std::uint32_t half_bits) { return static_cast<float>(half_of(half_bits)); }
std::uint16_t rounded(float value) { return Half(value).bits; }
std::uint16_t rounded_to_bfloat16(float value) { return BFloat16(value).bits; }

TEST(Half, EveryPatternHasTheValueThatItsFieldsSay) {
  for (std::uint32_t bits = 0; bits < kPatterns; ++bits) {
    const int exponent = static_cast<int>((bits >> 10U) & 0x1fU);
    const auto fraction = static_cast<float>(bits & 0x3ffU);
    const float value = value_of(bits);
    ASSERT_EQ(std::signbit(value), (bits & 0x8000U) != 0) << bits;
    if (exponent == 31) {
      ASSERT_EQ(std::isnan(value), fraction != 0) << bits;
      ASSERT_EQ(std::isinf(value), fraction == 0) << bits;
    } else if (exponent == 0) {
      ASSERT_EQ(std::abs(value), std::ldexp(fraction, -24)) << bits;
    } else {
      ASSERT_EQ(std::abs(value), std::ldexp(1024.0F + fraction, exponent - 25)) << bits;
    }
  }
}

TEST(Half, EveryPatternSurvivesTheWayThroughFloat) {
  for (std::uint32_t bits = 0; bits < kPatterns; ++bits) {
    const std::uint16_t back = rounded(value_of(bits));
    if (std::isnan(value_of(bits))) {
      ASSERT_TRUE(std::isnan(value_of(back))) << bits;
      ASSERT_EQ(back & 0x8000U, bits & 0x8000U) << bits;
    } else {
      ASSERT_EQ(back, bits);
    }
  }
}

TEST(Half, RoundsToNearestAndTiesToEvenBetweenAllNeighbours) {
  constexpr std::uint32_t kLargestFinite = 0x7bff;
  for (std::uint32_t bits = 0; bits < kLargestFinite; ++bits) {
    const float low = value_of(bits);
    const float high = value_of(bits + 1);
    const float middle = low + (high - low) / 2;  // exact: floats have 13 bits more
    ASSERT_EQ(rounded(middle), bits % 2 == 0 ? bits : bits + 1) << bits;
    ASSERT_EQ(rounded(std::nextafter(middle, 0.0F)), bits) << bits;
    ASSERT_EQ(rounded(std::nextafter(middle, kInfinity)), bits + 1) << bits;
    ASSERT_EQ(rounded(-middle), 0x8000U + (bits % 2 == 0 ? bits : bits + 1)) << bits;
  }
}

TEST(Half, OverflowsHalfwayToTheNextValueBeyondTheLargest) {
  EXPECT_EQ(rounded(65504.0F), 0x7bff);
  EXPECT_EQ(rounded(65519.996F), 0x7bff);
  EXPECT_EQ(rounded(65520.0F), 0x7c00);
  EXPECT_EQ(rounded(90000.0F), 0x7c00);
  EXPECT_EQ(rounded(std::numeric_limits<float>::max()), 0x7c00);
  EXPECT_EQ(rounded(-kInfinity), 0xfc00);
}

TEST(Half, UnderflowsHalfwayToTheSmallestSubnormal) {
  EXPECT_EQ(rounded(0x1p-24F), 0x0001);
  EXPECT_EQ(rounded(0x1p-25F), 0x0000);
  EXPECT_EQ(rounded(std::nextafter(0x1p-25F, 1.0F)), 0x0001);
  EXPECT_EQ(rounded(-0x1p-26F), 0x8000);
  EXPECT_EQ(rounded(std::numeric_limits<float>::denorm_min()), 0x0000);
  EXPECT_EQ(rounded(-0.0F), 0x8000);
}

TEST(Half, ASignallingNanStaysANan) {
  EXPECT_TRUE(std::isnan(value_of(rounded(std::bit_cast<float>(0x7f800001U)))));
  EXPECT_TRUE(std::isnan(value_of(rounded(std::bit_cast<float>(0xff800001U)))));
}

TEST(BFloat16, EveryPatternIsTheUpperHalfOfAFloat) {
  for (std::uint32_t bits = 0; bits < kPatterns; ++bits) {
    const auto value = static_cast<float>(bfloat16_of(bits));
    ASSERT_EQ(std::bit_cast<std::uint32_t>(value), bits << 16U);
  }
}

TEST(BFloat16, EveryPatternSurvivesTheWayThroughFloat) {
  for (std::uint32_t bits = 0; bits < kPatterns; ++bits) {
    const auto value = static_cast<float>(bfloat16_of(bits));
    const std::uint16_t back = rounded_to_bfloat16(value);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(static_cast<float>(bfloat16_of(back)))) << bits;
    } else {
      ASSERT_EQ(back, bits);
    }
  }
}

TEST(BFloat16, RoundsToNearestAndTiesToEvenBetweenAllNeighbours) {
  constexpr std::uint32_t kLargestFinite = 0x7f7f;
  for (std::uint32_t bits = 0; bits < kLargestFinite; ++bits) {
    const auto middle = std::bit_cast<float>((bits << 16U) | 0x8000U);
    ASSERT_EQ(rounded_to_bfloat16(middle), bits % 2 == 0 ? bits : bits + 1) << bits;
    ASSERT_EQ(rounded_to_bfloat16(std::bit_cast<float>((bits << 16U) | 0x7fffU)), bits) << bits;
    ASSERT_EQ(rounded_to_bfloat16(std::bit_cast<float>((bits << 16U) | 0x8001U)), bits + 1) << bits;
  }
}

TEST(BFloat16, OverflowsToInfinityAndKeepsNans) {
  EXPECT_EQ(rounded_to_bfloat16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(rounded_to_bfloat16(-kInfinity), 0xff80);
  const std::uint16_t nan = rounded_to_bfloat16(std::bit_cast<float>(0x7f800001U));
  EXPECT_TRUE(std::isnan(static_cast<float>(bfloat16_of(nan))));
}

}  // namespace
}  // namespace ohm::test
