// torch.cuda.memory_summary(): the counters as PyTorch's table.
#pragma once

#include <cstdint>
#include <string>

#include "allocator_shim/observe/memory_stats.h"

namespace ohm {

enum class SummaryRows : std::uint8_t {
  every_pool,
  abbreviated  ///< without the rows of the two pools
};

/// Character by character what PyTorch prints, the last newline included.
std::string memory_summary(const MemoryStats& stats, int device,
                           SummaryRows rows = SummaryRows::every_pool);

}  // namespace ohm
