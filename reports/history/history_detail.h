// The detail of a history that a report has room for.
//
// Note [What is left out]
// Curves have at most kMaxBuckets points, each with the highest and the lowest figure of its
// events: no peak is lost. Blocks are kept by bytes times lifetime, the area they would take in a
// chart, and those that were alive at the peak before all others. Where the rest was is told for
// some events (frames), neighbours joined, so that free memory is never drawn where there was none.
#pragma once

#include <cstddef>

#include "reports/model/memory_history.h"

namespace ohm::reports {

struct HistoryDetail {
  std::size_t blocks = 40'000;   ///< of all devices
  std::size_t segments = 8'000;  ///< of all devices
  std::size_t frames = 96;       ///< of each device
  std::size_t runs = 40'000;     ///< of all frames of a device
  std::size_t steps = 8'000;
};

/// Leaves out of `history` what goes beyond. A history that was reduced before can be reduced
/// further. Every site that is left belongs to a block, every call to
/// the stack of a site.
void reduce(MemoryHistory& history, const HistoryDetail& detail);

/// Rows of all blocks and segments: what a file of it costs.
std::size_t rows_of(const MemoryHistory& history);

}  // namespace ohm::reports
