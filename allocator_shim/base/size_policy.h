// The two size rules of the caching allocator: the block for a request, the segment for a block.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <tuple>

#include "allocator_shim/base/allocation_sizes.h"

namespace ohm {

constexpr std::size_t round_up_to(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/// Steps of floor(power / divisions) above each power of two: 4 divisions give 4, 5, 6, 7, 8, 10…
constexpr std::size_t round_up_to_power2_division(std::size_t bytes, std::size_t divisions) {
  if (std::has_single_bit(bytes)) return bytes;
  const std::size_t floor = std::bit_floor(bytes);
  const std::size_t step = floor >> static_cast<unsigned>(std::countr_zero(divisions));
  if (step == 0) return floor << 1U;
  return round_up_to(bytes, step);
}

/// For requests of 1 MiB (and below), 2 MiB, … 32 GiB (and above): into how many steps each power
/// of two is divided; 0 and 1: requests are rounded to 512 bytes as usual.
using RoundupDivisions = std::array<std::size_t, 16>;

/// The bytes that a block for this request has to have.
inline std::size_t round_request(std::size_t bytes, const RoundupDivisions& all_divisions) {
  constexpr int kFirstInterval = 20;  // of 1 MiB
  constexpr int kLastInterval = static_cast<int>(std::tuple_size_v<RoundupDivisions>) - 1;
  if (bytes < kMinBlockBytes) return kMinBlockBytes;
  const int interval = static_cast<int>(std::bit_width(bytes)) - 1 - kFirstInterval;
  const std::size_t divisions =
      all_divisions[static_cast<std::size_t>(std::clamp(interval, 0, kLastInterval))];
  if (divisions > 1 && bytes > kMinBlockBytes * divisions) {
    return round_up_to_power2_division(bytes, divisions);
  }
  return round_up_to(bytes, kMinBlockBytes);
}

/// The bytes to ask of the device when nothing cached fits a rounded request.
constexpr std::size_t segment_bytes_for(std::size_t rounded_bytes) {
  if (rounded_bytes <= kSmallRequestBytes) return kSmallBufferBytes;
  if (rounded_bytes < kMinOwnSegmentBytes) return kLargeBufferBytes;
  return round_up_to(rounded_bytes, kSegmentRoundingBytes);
}

}  // namespace ohm
