// The lives of blocks: allocations and frees of a history, paired by address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "allocator_shim/device/device_memory.h"
#include "allocator_shim/replay/device_history.h"

namespace ohm {

inline constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();

/// One block from its request until the free completes; times are indices of events.
struct BlockLife {
  DeviceAddress address = 0;
  std::size_t requested_bytes = 0;
  std::size_t bytes = 0;  ///< of the block, where the segments at the end tell; else 0
  StreamId stream = kDefaultStream;
  std::uint32_t allocated_at = kNever;  ///< kNever: before the history begins
  std::uint32_t freed_at = kNever;      ///< free_requested; kNever: not in this history
  std::uint32_t completed_at = kNever;  ///< free_completed; kNever: not in this history
  /// Which one of the completions that did not directly follow their request, in their order,
  /// counted from 1; 0: the free completed at once, or there was none. Frees that were still
  /// pending at the end come last.
  std::uint32_t deferral = 0;
  bool is_pending_at_start = false;

  bool began_before() const { return allocated_at == kNever; }
};

struct BlockLives {
  std::vector<BlockLife> lives;
  /// The life of each event, kNever for those that are about no block.
  std::vector<std::uint32_t> life_of;
  /// Those that began before the history, in address order.
  std::vector<std::uint32_t> before;
  /// Events about segments, ascending.
  std::vector<std::uint32_t> segment_events;
  /// False: the history was recorded without this action.
  bool has_free_requested = true;
  bool has_free_completed = true;
};

/// Pairs the events from the first one on; life_of counts from event 0 all the same. Throws
/// HistoryError when they contradict each other or the segments at the end.
BlockLives find_block_lives(const DeviceHistory& history, const Assumptions& assumptions = {});

}  // namespace ohm
