// The counters of torch.cuda.memory_stats(), with its names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ohm {

/// One counter: now, largest since reset, and the historical sums of increases and decreases.
struct Stat {
  std::int64_t current = 0;
  std::int64_t peak = 0;
  std::int64_t allocated = 0;
  std::int64_t freed = 0;

  void increase(std::int64_t amount) {
    current += amount;
    allocated += amount;
    if (current > peak) peak = current;
  }
  void decrease(std::int64_t amount) {
    current -= amount;
    freed += amount;
  }
  void reset_peak() { peak = current; }
  void reset_accumulated() { allocated = freed = 0; }

  friend bool operator==(const Stat&, const Stat&) = default;
};

/// A counter kept for all blocks and for each pool: index with StatPool.
enum class StatPool : std::uint8_t { all, small_pool, large_pool };
using PooledStat = std::array<Stat, 3>;

struct MemoryStats {
  PooledStat allocation;            ///< blocks handed out
  PooledStat segment;               ///< segments obtained with cudaMalloc
  PooledStat active;                ///< handed out, or freed and waiting for a stream
  PooledStat inactive_split;        ///< free blocks whose segment is partly in use
  PooledStat allocated_bytes;       ///< bytes of blocks handed out
  PooledStat reserved_bytes;        ///< bytes in all segments
  PooledStat active_bytes;          ///< bytes of active blocks
  PooledStat inactive_split_bytes;  ///< bytes of inactive split blocks
  PooledStat requested_bytes;       ///< bytes that callers asked for
  Stat oversize_allocations;        ///< blocks of at least max_split_size
  Stat oversize_segments;           ///< segments of at least max_split_size

  std::int64_t num_alloc_retries = 0;
  std::int64_t num_ooms = 0;
  std::int64_t num_sync_all_streams = 0;
  std::int64_t num_device_alloc = 0;
  std::int64_t num_device_free = 0;
  std::int64_t max_split_size = -1;  ///< -1: no limit

  /// Every Stat and every plain number by its name ("allocated_bytes.all", "num_ooms"), in the
  /// order of the declarations above.
  std::vector<std::pair<std::string, Stat>> named_stats() const;
  std::vector<std::pair<std::string, std::int64_t>> named_scalars() const;

  /// `allocated_bytes.all.peak` and so on, in the order of torch.cuda.memory_stats().
  std::vector<std::pair<std::string, std::int64_t>> flatten() const;

  void reset_peak();
  void reset_accumulated();

  friend bool operator==(const MemoryStats&, const MemoryStats&) = default;
};

}  // namespace ohm
