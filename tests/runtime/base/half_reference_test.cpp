// Half precision against others that have it: OpenEXR's half, and the processor's own conversions.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>

#include "runtime/base/half.h"
#include "runtime/base/philox.h"

#ifdef OHM_HAS_IMATH
#include <Imath/half.h>
#endif
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace ohm::test {
namespace {

constexpr std::uint32_t kHalves = 0x10000;
constexpr std::uint64_t kDrawnFloats = std::uint64_t{1} << 20U;

using ToFloat = std::function<float(std::uint16_t)>;
using ToHalf = std::function<std::uint16_t(float)>;

float number_of(std::uint32_t bits) {
  Half half;
  half.bits = static_cast<std::uint16_t>(bits);
  return static_cast<float>(half);
}

bool is_nan(std::uint16_t bits) { return (bits & 0x7fffU) > 0x7c00U; }

void expect_every_pattern_to_mean_the_same(const ToFloat& reference) {
  for (std::uint32_t bits = 0; bits < kHalves; ++bits) {
    const float expected = reference(static_cast<std::uint16_t>(bits));
    const float value = number_of(bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value)) << bits;
      ASSERT_EQ(std::signbit(value), std::signbit(expected)) << bits;
    } else {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(value), std::bit_cast<std::uint32_t>(expected))
          << bits;
    }
  }
}

void expect_the_same_half(std::uint32_t float_bits, const ToHalf& reference) {
  const auto value = std::bit_cast<float>(float_bits);
  const std::uint16_t expected = reference(value);
  const std::uint16_t rounded = Half(value).bits;
  if (is_nan(expected)) {
    ASSERT_TRUE(is_nan(rounded)) << float_bits;
    ASSERT_EQ(rounded & 0x8000U, expected & 0x8000U) << float_bits;
  } else {
    ASSERT_EQ(rounded, expected) << float_bits;
  }
}

// Every half, the floats beside it and the middles between it and the next, then floats by chance:
// most of those in the range in which halves differ.
void expect_floats_to_round_the_same(const ToHalf& reference) {
  for (std::uint32_t bits = 0; bits < kHalves; ++bits) {
    const auto at = std::bit_cast<std::uint32_t>(number_of(bits));
    for (const std::uint32_t offset : {0U, 1U, 0xfffU, 0x1000U, 0x1001U, 0x1fffU, 0xffffffffU}) {
      expect_the_same_half(at + offset, reference);
    }
  }
  constexpr std::uint32_t kSmallestExponent = 100;  // below 2^-25, all halves are 0
  for (std::uint64_t i = 0; i < kDrawnFloats; ++i) {
    const std::uint32_t word = philox_word(11, 0, i);
    expect_the_same_half(word, reference);
    const std::uint32_t exponent = kSmallestExponent + (word >> 23U) % 45U;
    expect_the_same_half((word & 0x807fffffU) | (exponent << 23U), reference);
  }
}

#ifdef OHM_HAS_IMATH

TEST(HalfOfOpenExr, MeansTheSameForEveryPattern) {
  expect_every_pattern_to_mean_the_same(
      [](std::uint16_t bits) { return imath_half_to_float(bits); });
}

TEST(HalfOfOpenExr, RoundsTheSame) {
  expect_floats_to_round_the_same([](float value) { return imath_float_to_half(value); });
}

#else

TEST(HalfOfOpenExr, RoundsTheSame) { GTEST_SKIP() << "libimath-dev is not installed"; }

#endif

#if defined(__x86_64__)

__attribute__((target("f16c"))) float float_by_processor(std::uint16_t bits) {
  return _cvtsh_ss(bits);
}

__attribute__((target("f16c"))) std::uint16_t half_by_processor(float value) {
  return _cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT);
}

bool processor_has_half_precision() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

TEST(HalfOfTheProcessor, IsTheSameForEveryPatternAndRounding) {
  if (!processor_has_half_precision()) GTEST_SKIP() << "this processor has no half precision";
  expect_every_pattern_to_mean_the_same(&float_by_processor);
  expect_floats_to_round_the_same(&half_by_processor);
}

#endif

}  // namespace
}  // namespace ohm::test
