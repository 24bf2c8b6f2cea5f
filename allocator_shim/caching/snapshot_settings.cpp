#include "allocator_shim/caching/snapshot_settings.h"

#include <algorithm>

namespace ohm {

SnapshotSettings snapshot_settings(const AllocatorSettings& settings, const RuleSet& rules) {
  SnapshotSettings shown;
  shown.alloc_conf = settings.text;
  if (settings.max_split_size_bytes != AllocatorSettings::kNoMaxSplitSize) {
    shown.max_split_size = static_cast<std::int64_t>(settings.max_split_size_bytes);
  }
  shown.garbage_collection_threshold = settings.garbage_collection_threshold;
  shown.expandable_segments = settings.expandable_segments;
  shown.pinned_num_register_threads =
      static_cast<std::int64_t>(settings.pinned_num_register_threads);
  shown.release_lock_on_cudamalloc = settings.release_lock_on_cudamalloc;
  shown.pinned_use_cuda_host_register = settings.pinned_use_cuda_host_register;
  std::ranges::transform(
      settings.roundup_power2_divisions, shown.roundup_power2_divisions.begin(),
      [](std::size_t divisions) { return static_cast<std::int64_t>(divisions); });
  if (rules.has_later_snapshot_keys) {
    shown.graph_capture_record_stream_reuse = false;
    shown.max_round_threshold = -1;
    shown.max_cached_size = -1;
  }
  return shown;
}

}  // namespace ohm
