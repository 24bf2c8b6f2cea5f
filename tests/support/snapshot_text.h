// A snapshot as text, every field of it: to compare two, and to compare with what
// tests/comparisons/snapshot_figures.py makes of the same file.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "allocator_shim/snapshot/snapshot.h"
#include "allocator_shim/snapshot/snapshot_keys.h"

namespace ohm::test {

inline std::string stack_text(const Snapshot& snapshot, StackId id) {
  std::string out;
  for (const FrameId frame_id : snapshot.tables.stack(id)) {
    const StackFrame& frame = snapshot.tables.frame(frame_id);
    if (!out.empty()) out += '|';
    out += fmt::format("{}:{}:{}", snapshot.tables.text(frame.filename), frame.line,
                       snapshot.tables.text(frame.name));
  }
  return out;
}

inline std::string time_text(std::int64_t time_us) {
  return time_us == kNoTime ? "-" : std::to_string(time_us);
}

inline std::string segment_text(const Snapshot& snapshot, const SnapshotSegment& segment) {
  std::string out = fmt::format(
      "segment {} {} {} {} {} {} {} {} {} {} {:d} {}\n", segment.device, segment.address,
      segment.bytes, segment.allocated_bytes, segment.active_bytes, segment.requested_bytes,
      segment.stream, kSegmentTypeNames[segment.is_small ? 1 : 0], segment.pool[0], segment.pool[1],
      segment.is_expandable, stack_text(snapshot, segment.stack));
  for (const SnapshotBlock& block : segment.blocks) {
    out += fmt::format("block {} {} {} {} {} {}\n", block.address, block.bytes,
                       block.requested_bytes, name_of(block.state),
                       snapshot.tables.text(block.category), stack_text(snapshot, block.stack));
  }
  return out;
}

inline std::string entry_text(const Snapshot& snapshot, const TraceEntry& entry) {
  const TraceDetail& detail = snapshot.detail(entry);
  return fmt::format("{} {} {} {} {} {} {} {} {}\n", name_of(entry.action), entry.address,
                     entry.bytes, detail.stream, time_text(entry.time_us),
                     snapshot.tables.text(detail.category),
                     snapshot.tables.text(detail.compile_context),
                     snapshot.tables.text(detail.user_metadata), stack_text(snapshot, entry.stack));
}

inline std::string settings_text(const SnapshotSettings& settings) {
  const auto& reuse = settings.graph_capture_record_stream_reuse;
  return fmt::format("settings {} {} {:.6f} {:d} {} {:d} {:d} {} {}\n", settings.alloc_conf,
                     settings.max_split_size, settings.garbage_collection_threshold,
                     settings.expandable_segments, settings.pinned_num_register_threads,
                     settings.release_lock_on_cudamalloc, settings.pinned_use_cuda_host_register,
                     reuse ? std::to_string(static_cast<int>(*reuse)) : "-",
                     fmt::join(settings.roundup_power2_divisions, " "));
}

inline std::string snapshot_text(const Snapshot& snapshot) {
  std::string out;
  for (const SnapshotSegment& segment : snapshot.segments) out += segment_text(snapshot, segment);
  for (std::size_t device = 0; device < snapshot.device_traces.size(); ++device) {
    out += fmt::format("trace {}\n", device);
    for (const TraceEntry& entry : snapshot.device_traces[device]) {
      out += entry_text(snapshot, entry);
    }
  }
  if (snapshot.allocator_settings) out += settings_text(*snapshot.allocator_settings);
  for (const SnapshotAnnotation& mark : snapshot.external_annotations) {
    out += fmt::format("annotation {} {} {} {}\n", snapshot.tables.text(mark.name),
                       snapshot.tables.text(mark.stage), mark.device, time_text(mark.time_us));
  }
  return out;
}

}  // namespace ohm::test
