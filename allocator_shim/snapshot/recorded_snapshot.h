// A snapshot of what our own allocators hold and did.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "allocator_shim/observe/event_record.h"
#include "allocator_shim/observe/segment_view.h"
#include "allocator_shim/observe/site.h"
#include "allocator_shim/snapshot/snapshot.h"

namespace ohm {

/// Which events of a record a snapshot shows.
struct SnapshotHistory {
  std::uint64_t first_event = 0;                                      ///< its logical time
  std::size_t max_entries = std::numeric_limits<std::size_t>::max();  ///< of each GPU, the newest
};

/// `segments_of_gpus[i]` is what GPU i holds. Events of the host are left out, and the newest
/// category of a block is that of its allocation. `time_us` is the event's ordinal in the record,
/// frames are the line of the program with the op as its function. `has_later_keys`: as snapshots
/// of later versions of PyTorch are written.
Snapshot snapshot_of(std::span<const std::vector<SegmentView>> segments_of_gpus,
                     const EventRecord& events, const SiteTable& sites,
                     const SnapshotSettings& settings, const SnapshotHistory& history = {},
                     bool has_later_keys = false);

/// The function of a frame whose line runs outside any op.
inline constexpr std::string_view kNoOpName = "main chunk";

}  // namespace ohm
