// The segments that a history began with, found by undoing its events from the segments at its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "allocator_shim/replay/block_lives.h"
#include "allocator_shim/replay/device_history.h"

namespace ohm {

/// The addresses that an expandable segment lived in. A record shows only where memory was mapped:
/// the range is taken to begin with the lowest address that ever was, and to reach to what else
/// lies above it. Wider ranges would have been used the same way.
struct RecordedReservation {
  DeviceAddress address = 0;
  std::size_t bytes = 0;
  StreamId stream = kDefaultStream;
  bool is_small = false;
  std::uint32_t created_at = kNever;  ///< the event that mapped its first memory; kNever: before
};

struct SegmentsAtStart {
  std::vector<SegmentView> segments;         ///< in address order, without blocks
  std::vector<RecordedReservation> created;  ///< during the history, in that order
  std::size_t peak_reserved_bytes = 0;       ///< of the whole history
};

/// Throws HistoryError for an event that cannot have led to what comes after it.
SegmentsAtStart undo_segments(const DeviceHistory& history, const BlockLives& lives,
                              const Assumptions& assumptions = {});

}  // namespace ohm
