// The words of a memory snapshot: keys and fixed values, once for the reader and the writer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ohm {

enum class SnapshotKey : std::uint8_t {
  // the whole
  segments,
  device_traces,
  allocator_settings,
  external_annotations,
  host_segments,
  host_traces,
  // segments and blocks
  device,
  address,
  total_size,
  allocated_size,
  active_size,
  requested_size,
  segment_type,
  segment_pool_id,
  is_expandable,
  blocks,
  state,
  history,
  real_size,
  // trace entries
  action,
  addr,
  device_free,
  size,
  stream,
  time_us,
  frames,
  category,
  compile_context,
  user_metadata,
  pool_id,
  // frames and annotations
  filename,
  line,
  name,
  stage,
  // settings
  alloc_conf,
  newer_alloc_conf,
  max_split_size,
  garbage_collection_threshold,
  expandable_segments,
  pinned_num_register_threads,
  release_lock_on_cudamalloc,
  pinned_use_cuda_host_register,
  graph_capture_record_stream_reuse,
  max_round_threshold,
  max_cached_size,
  roundup_power2_divisions,
};

inline constexpr std::array<std::string_view, 46> kSnapshotKeyNames = {
    "segments",
    "device_traces",
    "allocator_settings",
    "external_annotations",
    "host_segments",
    "host_traces",
    "device",
    "address",
    "total_size",
    "allocated_size",
    "active_size",
    "requested_size",
    "segment_type",
    "segment_pool_id",
    "is_expandable",
    "blocks",
    "state",
    "history",
    "real_size",
    "action",
    "addr",
    "device_free",
    "size",
    "stream",
    "time_us",
    "frames",
    "category",
    "compile_context",
    "user_metadata",
    "pool_id",
    "filename",
    "line",
    "name",
    "stage",
    "PYTORCH_CUDA_ALLOC_CONF",
    "PYTORCH_ALLOC_CONF",
    "max_split_size",
    "garbage_collection_threshold",
    "expandable_segments",
    "pinned_num_register_threads",
    "release_lock_on_cudamalloc",
    "pinned_use_cuda_host_register",
    "graph_capture_record_stream_reuse",
    "max_round_threshold",
    "max_cached_size",
    "roundup_power2_divisions",
};
inline constexpr std::size_t kSnapshotKeyCount = kSnapshotKeyNames.size();
static_assert(static_cast<std::size_t>(SnapshotKey::roundup_power2_divisions) + 1 ==
              kSnapshotKeyCount);

constexpr std::string_view name_of(SnapshotKey key) {
  return kSnapshotKeyNames[static_cast<std::size_t>(key)];
}

/// `segment_type`: index with is_small.
inline constexpr std::array<std::string_view, 2> kSegmentTypeNames = {"large", "small"};

/// The keys of `roundup_power2_divisions`: from so many MiB on.
inline constexpr std::array<std::string_view, 16> kRoundupKeyNames = {
    "1",   "2",   "4",    "8",    "16",   "32",   "64",    "128",
    "256", "512", "1024", "2048", "4096", "8192", "16384", "32768"};

}  // namespace ohm
