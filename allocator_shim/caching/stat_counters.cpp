#include "allocator_shim/caching/stat_counters.h"

namespace ohm {

void StatCounters::separate_active() {
  if (has_separate_active_) return;
  counter_of(Metric::active) = counter_of(Metric::allocation);
  counter_of(Metric::active_bytes) = counter_of(Metric::allocated_bytes);
  has_separate_active_ = true;
}

const StatCounters::Counter& StatCounters::source_of(Metric metric) const {
  if (!has_separate_active_ && metric == Metric::active) metric = Metric::allocation;
  if (!has_separate_active_ && metric == Metric::active_bytes) metric = Metric::allocated_bytes;
  return counters_[static_cast<std::size_t>(metric)];
}

PooledStat StatCounters::pooled_stat(Metric metric) const {
  const Counter& counter = source_of(metric);
  PooledStat pooled;
  Stat& all = pooled[static_cast<std::size_t>(StatPool::all)];
  for (const PoolKind kind : {PoolKind::small, PoolKind::large}) {
    const Part& part = counter.parts[static_cast<std::size_t>(kind)];
    Stat& stat = pooled[static_cast<std::size_t>(stat_pool_of(kind))];
    stat.current = part.current;
    stat.peak = part.peak;
    stat.allocated = part.increases;
    stat.freed = part.at_reset + part.increases - part.current;
    all.current += stat.current;
    all.allocated += stat.allocated;
    all.freed += stat.freed;
  }
  all.peak = counter.peak_of_all;
  return pooled;
}

MemoryStats StatCounters::memory_stats() const {
  MemoryStats stats;
  stats.allocation = pooled_stat(Metric::allocation);
  stats.segment = pooled_stat(Metric::segment);
  stats.active = pooled_stat(Metric::active);
  stats.inactive_split = pooled_stat(Metric::inactive_split);
  stats.allocated_bytes = pooled_stat(Metric::allocated_bytes);
  stats.reserved_bytes = pooled_stat(Metric::reserved_bytes);
  stats.active_bytes = pooled_stat(Metric::active_bytes);
  stats.inactive_split_bytes = pooled_stat(Metric::inactive_split_bytes);
  stats.requested_bytes = pooled_stat(Metric::requested_bytes);
  stats.oversize_allocations = oversize_allocations;
  stats.oversize_segments = oversize_segments;
  stats.num_alloc_retries = num_alloc_retries;
  stats.num_ooms = num_ooms;
  stats.num_sync_all_streams = num_sync_all_streams;
  stats.num_device_alloc = num_device_alloc;
  stats.num_device_free = num_device_free;
  return stats;
}

void StatCounters::reset_peak() {
  for (Counter& counter : counters_) {
    for (Part& part : counter.parts) part.peak = part.current;
    counter.peak_of_all = counter.parts[0].current + counter.parts[1].current;
  }
  oversize_allocations.reset_peak();
  oversize_segments.reset_peak();
}

void StatCounters::reset_accumulated() {
  for (Counter& counter : counters_) {
    for (Part& part : counter.parts) {
      part.increases = 0;
      part.at_reset = part.current;
    }
  }
  oversize_allocations.reset_accumulated();
  oversize_segments.reset_accumulated();
  num_alloc_retries = num_ooms = num_sync_all_streams = num_device_alloc = num_device_free = 0;
}

}  // namespace ohm
