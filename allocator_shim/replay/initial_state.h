// The state that a history began in: every segment, and every block in it.
//
// Note [Open sizes]
// A block's address and request are in the record, its size is not: a block that was handed out
// whole may be larger than the rounded request. For a block that was allocated before the history
// and freed in it, the size follows from what stands behind it. In the large pool no block is
// smaller than 1 MiB and none is handed out whole with more than 1 MiB to spare, so that a gap of
// up to 1 MiB belongs to the block. Behind a larger gap the size is open: either the gap is one
// free block, or the block has some of it. The first block that is later cut from the gap tells. If
// there is none, the gap could still serve as a free block: a request that it would have served,
// and that went elsewhere, shows that less of it was free. What remains open after that made no
// difference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "allocator_shim/observe/segment_view.h"
#include "allocator_shim/replay/block_lives.h"
#include "allocator_shim/replay/device_history.h"
#include "allocator_shim/replay/segment_undo.h"

namespace ohm {

/// A block that was there when the history began.
struct BlockAtStart {
  std::uint32_t life = 0;
  std::size_t bytes = 0;
};

/// One of them whose size the record leaves open.
struct OpenBlock {
  std::size_t index = 0;           ///< in InitialState::allocated
  std::size_t smallest_bytes = 0;  ///< the rounded request
  std::size_t largest_bytes = 0;
  bool is_known = false;     ///< a block was cut from the gap
  bool is_narrowed = false;  ///< a request that would have fitted went elsewhere
};

struct InitialState {
  /// As CachingAllocator::restore() takes them: pending blocks count as allocated, and what
  /// inactive blocks last held is unknown: kUnknownRequest and up, different for each.
  std::vector<SegmentView> segments;
  /// Where each begins, of an expandable one its range, as far as their order is known; see
  /// SegmentOrder. Empty: by address.
  std::vector<DeviceAddress> oldest_first;
  std::vector<BlockAtStart> allocated;            ///< in address order
  std::vector<OpenBlock> open;                    ///< in address order
  std::vector<RecordedReservation> reservations;  ///< that the history made, in that order
  std::size_t peak_reserved_bytes = 0;            ///< of the whole history

  std::size_t reserved_bytes() const;
};

inline constexpr std::size_t kUnknownRequest = std::size_t{1} << 62U;

/// Throws HistoryError when the history cannot have begun in any state.
InitialState find_initial_state(const DeviceHistory& history, const BlockLives& lives,
                                const Assumptions& assumptions = {});

/// Lays the blocks out once more, after a size was changed.
void place_blocks(InitialState& state, const BlockLives& lives);

}  // namespace ohm
