// Random numbers from a counter: Philox-4x32-10. Element i of a draw depends on the seed, the
// draw's offset and i alone, so the bits are the same whatever the number of threads.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace ohm {

/// The state of one device's generator. Copying it saves it; assigning restores it.
struct PhiloxGenerator {
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;  ///< in blocks of four 32-bit words already drawn

  /// The offset of a draw of `count` 32-bit words; the next draw starts behind it.
  std::uint64_t take(std::uint64_t count) {
    const std::uint64_t start = offset;
    offset += (count + 3) / 4;
    return start;
  }
};

/// Ten rounds of Philox on (counter, seed).
constexpr std::array<std::uint32_t, 4> philox_block(std::uint64_t seed, std::uint64_t counter) {
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53U;
  constexpr std::uint64_t kMultiplier1 = 0xCD9E8D57U;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9U;
  constexpr std::uint32_t kWeyl1 = 0xBB67AE85U;
  constexpr int kRounds = 10;
  std::array<std::uint32_t, 4> x = {static_cast<std::uint32_t>(counter),
                                    static_cast<std::uint32_t>(counter >> 32U), 0, 0};
  auto key0 = static_cast<std::uint32_t>(seed);
  auto key1 = static_cast<std::uint32_t>(seed >> 32U);
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t product0 = kMultiplier0 * x[0];
    const std::uint64_t product1 = kMultiplier1 * x[2];
    x = {static_cast<std::uint32_t>(product1 >> 32U) ^ x[1] ^ key0,
         static_cast<std::uint32_t>(product1),
         static_cast<std::uint32_t>(product0 >> 32U) ^ x[3] ^ key1,
         static_cast<std::uint32_t>(product0)};
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  return x;
}

/// Word `i` of the draw that starts at `offset`.
constexpr std::uint32_t philox_word(std::uint64_t seed, std::uint64_t offset, std::uint64_t i) {
  return philox_block(seed, offset + i / 4)[i % 4];
}

/// Uniform in [0, 1), 24 bits of randomness.
constexpr float uniform_from_word(std::uint32_t word) {
  return static_cast<float>(word >> 8U) * 0x1p-24F;
}

/// Two independent standard normals from two words (Box-Muller).
template <class Word>
constexpr std::array<float, 2> normals_from_words(Word first, Word second) {
  constexpr float kTwoPi = 6.2831853F;
  const float radius =
      std::sqrt(-2.0F * std::log(static_cast<float>((first >> 8U) + 1U) * 0x1p-24F));
  const float angle = kTwoPi * uniform_from_word(second);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

}  // namespace ohm
