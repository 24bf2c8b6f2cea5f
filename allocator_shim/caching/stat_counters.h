// The allocator's counters in the form that costs least to keep up to date.
//
// Note [Lean counters]
// PyTorch keeps four figures of each metric three times: for all blocks and for both pools. Kept
// here for each pool: the current value, its peak and the sum of the increases; for all blocks the
// peak alone. The rest follows: all = small + large, freed = increases - change. And as long as no
// free was ever deferred, active blocks are the allocated ones, so that one of the two is enough.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "allocator_shim/caching/block_pool.h"
#include "allocator_shim/observe/memory_stats.h"

namespace ohm {

class StatCounters {
 public:
  enum class Metric : std::uint8_t {
    allocation,
    allocated_bytes,
    requested_bytes,
    inactive_split,
    inactive_split_bytes,
    segment,
    reserved_bytes,
    active,        ///< kept apart only after separate_active()
    active_bytes,  ///< kept apart only after separate_active()
  };

  /// Returns whether all pools together are at a new peak.
  bool increase(PoolKind kind, Metric metric, std::int64_t amount) {
    Counter& counter = counter_of(metric);
    Part& part = counter.parts[static_cast<std::size_t>(kind)];
    part.current += amount;
    part.increases += amount;
    if (part.current > part.peak) part.peak = part.current;
    const std::int64_t all = counter.parts[0].current + counter.parts[1].current;
    if (all <= counter.peak_of_all) return false;
    counter.peak_of_all = all;
    return true;
  }
  void decrease(PoolKind kind, Metric metric, std::int64_t amount) {
    counter_of(metric).parts[static_cast<std::size_t>(kind)].current -= amount;
  }
  /// By a signed amount.
  void change(PoolKind kind, Metric metric, std::int64_t amount) {
    if (amount > 0) {
      increase(kind, metric, amount);
    } else {
      decrease(kind, metric, -amount);
    }
  }

  /// A block was handed out. Returns whether allocated_bytes of all pools is at a new peak.
  bool block_allocated(PoolKind kind, std::int64_t bytes, std::int64_t requested_bytes) {
    increase(kind, Metric::allocation, 1);
    increase(kind, Metric::requested_bytes, requested_bytes);
    if (has_separate_active_) {
      increase(kind, Metric::active, 1);
      increase(kind, Metric::active_bytes, bytes);
    }
    return increase(kind, Metric::allocated_bytes, bytes);
  }
  /// Its owner gave it back.
  void block_freed(PoolKind kind, std::int64_t bytes) {
    decrease(kind, Metric::allocation, 1);
    decrease(kind, Metric::allocated_bytes, bytes);
  }
  /// No stream uses it any more.
  void free_completed(PoolKind kind, std::int64_t bytes, std::int64_t requested_bytes) {
    decrease(kind, Metric::requested_bytes, requested_bytes);
    if (!has_separate_active_) return;
    decrease(kind, Metric::active, 1);
    decrease(kind, Metric::active_bytes, bytes);
  }
  /// From now on a block may be active without being allocated.
  void separate_active();

  std::int64_t current_of_all(Metric metric) const {
    const Counter& counter = counters_[static_cast<std::size_t>(metric)];
    return counter.parts[0].current + counter.parts[1].current;
  }

  Stat oversize_allocations;
  Stat oversize_segments;
  std::int64_t num_alloc_retries = 0;
  std::int64_t num_ooms = 0;
  std::int64_t num_sync_all_streams = 0;
  std::int64_t num_device_alloc = 0;
  std::int64_t num_device_free = 0;

  void reset_peak();
  void reset_accumulated();

  /// All of it in PyTorch's form; max_split_size is not ours.
  MemoryStats memory_stats() const;

 private:
  static constexpr std::size_t kMetrics = 9;

  struct Part {
    std::int64_t current = 0;
    std::int64_t peak = 0;
    std::int64_t increases = 0;
    std::int64_t at_reset = 0;  ///< `current` when `increases` was set to 0
  };
  struct Counter {
    std::array<Part, 2> parts;  ///< index with PoolKind
    std::int64_t peak_of_all = 0;
  };

  Counter& counter_of(Metric metric) { return counters_[static_cast<std::size_t>(metric)]; }
  /// The counter that says how a metric stands.
  const Counter& source_of(Metric metric) const;
  PooledStat pooled_stat(Metric metric) const;

  std::array<Counter, kMetrics> counters_;
  bool has_separate_active_ = false;
};

}  // namespace ohm
