// The sizes that the caching allocator goes by: PyTorch's constants.
#pragma once

#include <cstddef>

#include "allocator_shim/base/bytes.h"

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

}  // namespace ohm
