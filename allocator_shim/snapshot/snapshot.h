// A memory snapshot, as torch.cuda.memory._dump_snapshot writes it: plain data.
//
// The keys of the pickled dictionary are the fields here, with units in their names; what several
// entries share (stream, metadata, texts, stacks) is kept once, so that an event takes 32 bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "allocator_shim/observe/event_record.h"
#include "allocator_shim/observe/pool_id.h"
#include "allocator_shim/observe/segment_view.h"
#include "allocator_shim/observe/stack_table.h"

namespace ohm {

inline constexpr std::int64_t kNoTime = std::numeric_limits<std::int64_t>::min();

struct SnapshotBlock {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t requested_bytes = 0;  ///< of an inactive block stale: see BlockView
  StackId stack = kNoStack;           ///< of the request, while active
  TextId category = kNoText;
  BlockView::State state = BlockView::State::inactive;

  friend bool operator==(const SnapshotBlock&, const SnapshotBlock&) = default;
};

/// One segment, or one contiguous mapped range of an expandable one.
struct SnapshotSegment {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;            ///< `total_size`; what the blocks add up to
  std::uint64_t allocated_bytes = 0;  ///< as the file says
  std::uint64_t active_bytes = 0;     ///< as the file says
  std::uint64_t requested_bytes = 0;  ///< as the file says; of active blocks
  std::int64_t stream = 0;            ///< cudaStream_t as a number: 0 is the default stream
  PoolId pool = {};
  StackId stack = kNoStack;
  std::int32_t device = 0;
  bool is_small = false;
  bool is_expandable = false;
  std::vector<SnapshotBlock> blocks;  ///< in address order, without gaps

  friend bool operator==(const SnapshotSegment&, const SnapshotSegment&) = default;
};

/// What many entries of a trace have in common.
struct TraceDetail {
  std::int64_t stream = 0;  ///< cudaStream_t as a number: 0 is the default stream
  TextId category = kNoText;
  TextId compile_context = kNoText;
  TextId user_metadata = kNoText;
  PoolId pool = kNormalPool;  ///< of later versions only

  friend bool operator==(const TraceDetail&, const TraceDetail&) = default;
};

/// `user_metadata` of an `oom` that a fault plan wanted: it is not an act of the allocator.
inline constexpr std::string_view kInjectedNote = "injected";

/// One event of a device. `relabel` does not occur.
struct TraceEntry {
  std::uint64_t address = 0;  ///< `addr`; for `oom` the free bytes of the device
  std::uint64_t bytes = 0;    ///< a block's requested bytes, a segment's or mapped range's size;
                              ///< for `oom` the rounded request
  std::int64_t time_us = kNoTime;  ///< since the epoch; in our own a logical clock
  StackId stack = kNoStack;
  std::uint32_t detail : 28 = 0;  ///< index into Snapshot::details
  EventAction action : 4 = EventAction::alloc;

  friend bool operator==(const TraceEntry&, const TraceEntry&) = default;
};
static_assert(sizeof(TraceEntry) == 32);

/// `allocator_settings`: what was in force when the snapshot was taken.
struct SnapshotSettings {
  std::string alloc_conf;            ///< `PYTORCH_CUDA_ALLOC_CONF`: the last string that was parsed
  std::int64_t max_split_size = -1;  ///< bytes; -1: no limit
  double garbage_collection_threshold = 0;
  bool expandable_segments = false;
  std::int64_t pinned_num_register_threads = 1;
  bool release_lock_on_cudamalloc = false;
  bool pinned_use_cuda_host_register = false;
  std::optional<bool> graph_capture_record_stream_reuse;  ///< newer versions only
  std::optional<std::int64_t> max_round_threshold;        ///< the same; -1: none
  std::optional<std::int64_t> max_cached_size;            ///< the same
  /// For sizes from 1 MiB (and below), 2 MiB, … 32 GiB (and above).
  std::array<std::int64_t, 16> roundup_power2_divisions = {};

  friend bool operator==(const SnapshotSettings&, const SnapshotSettings&) = default;
};

/// A range that a profiler or a user marked.
struct SnapshotAnnotation {
  TextId name = kNoText;
  TextId stage = kNoText;  ///< "START" or "END"
  std::int32_t device = 0;
  std::int64_t time_us = kNoTime;

  friend bool operator==(const SnapshotAnnotation&, const SnapshotAnnotation&) = default;
};

/// Move-only: the tables may be large.
struct Snapshot {
  std::vector<SnapshotSegment> segments;               ///< in the order of the file
  std::vector<std::vector<TraceEntry>> device_traces;  ///< index = device; oldest first
  std::optional<SnapshotSettings> allocator_settings;  ///< old versions wrote none
  std::vector<SnapshotAnnotation> external_annotations;
  /// Written with what later versions add: pools of trace entries, and lists of pinned memory,
  /// which are empty.
  bool has_later_keys = false;
  std::vector<TraceDetail> details;  ///< of the entries, each once
  StackTable tables;                 ///< of every TextId and StackId here

  const TraceDetail& detail(const TraceEntry& entry) const { return details[entry.detail]; }
  std::int64_t stream(const TraceEntry& entry) const { return detail(entry).stream; }
};

}  // namespace ohm
