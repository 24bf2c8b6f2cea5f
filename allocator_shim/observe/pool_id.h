// The id of a private pool, as snapshots show it: PyTorch's MempoolId_t.
#pragma once

#include <array>
#include <cstdint>

namespace ohm {

/// {0, 0} is the normal pool, {n, 0} one of a graph, {0, n} one that a program makes.
using PoolId = std::array<std::int64_t, 2>;
inline constexpr PoolId kNormalPool = {};

/// An id in 32 bits, and back; 0 for the normal pool.
constexpr std::uint32_t packed(PoolId id) {
  const auto number = static_cast<std::uint32_t>(id[0] != 0 ? id[0] : id[1]);
  return number << 1U | (id[1] != 0 ? 1U : 0U);
}
constexpr PoolId unpacked_pool(std::uint32_t packed) {
  const std::int64_t number = packed >> 1U;
  return (packed & 1U) != 0 ? PoolId{0, number} : PoolId{number, 0};
}

}  // namespace ohm
