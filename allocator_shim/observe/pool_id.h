// The id of a private pool, as snapshots show it: PyTorch's MempoolId_t.
#pragma once

#include <array>
#include <cstdint>

namespace ohm {

/// {0, 0} is the normal pool.
using PoolId = std::array<std::int64_t, 2>;
inline constexpr PoolId kNormalPool = {};

}  // namespace ohm
