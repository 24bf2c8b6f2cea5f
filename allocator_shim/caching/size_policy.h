// How many bytes a request becomes: the constants and the two size rules of the caching allocator.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

#include "allocator_shim/base/bytes.h"
#include "allocator_shim/caching/settings.h"

namespace ohm {

/// Every block is a multiple of this.
inline constexpr std::size_t kMinBlockBytes = 512;
/// The largest request that small segments serve.
inline constexpr std::size_t kSmallRequestBytes = 1_MiB;
inline constexpr std::size_t kSmallBufferBytes = 2_MiB;
/// Requests of 1 to 10 MiB share segments of this size, to cut fragmentation.
inline constexpr std::size_t kLargeBufferBytes = 20_MiB;
/// Requests from here on get a segment of their own, rounded up.
inline constexpr std::size_t kMinOwnSegmentBytes = 10_MiB;
inline constexpr std::size_t kSegmentRoundingBytes = 2_MiB;
/// No request may reach this: PyTorch takes it for a mistake.
inline constexpr std::size_t kTooManyBytes = std::size_t{1} << 60U;

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

/// The bytes that a block for this request has to have.
inline std::size_t round_request(std::size_t bytes, const AllocatorSettings& settings) {
  constexpr int kFirstInterval = 20;  // of 1 MiB
  constexpr int kLastInterval = static_cast<int>(AllocatorSettings::kRoundupIntervals) - 1;
  if (bytes < kMinBlockBytes) return kMinBlockBytes;
  const int interval = static_cast<int>(std::bit_width(bytes)) - 1 - kFirstInterval;
  const std::size_t divisions = settings.roundup_power2_divisions[static_cast<std::size_t>(
      std::clamp(interval, 0, kLastInterval))];
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
