// What a device's allocator holds beside tensors, followed through the events of a record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <vector>

#include "allocator_shim/snapshot/snapshot.h"
#include "reports/history/mapped_ranges.h"
#include "reports/history/recorded_beginning.h"

namespace ohm::reports {

/// Of one device. Refers to the snapshot.
class CardTotals {
 public:
  CardTotals(const Snapshot& snapshot, const RecordedBeginning& beginning, std::size_t device);

  /// Events in their order. `block_bytes`: of what an alloc makes.
  void add(const TraceEntry& entry, std::uint64_t block_bytes);

  std::int64_t reserved_bytes() const;
  /// Of blocks that are allocated, beyond what was requested.
  std::int64_t rounding_bytes() const;
  /// Free in private pools.
  std::int64_t private_pool_bytes() const;
  /// Some range was mapped into an expandable segment.
  bool is_expandable() const { return is_expandable_; }

 private:
  struct Block {
    std::uint64_t bytes = 0;
    std::uint64_t requested = 0;
  };
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  bool is_private(std::uint64_t address) const;

  const Snapshot& snapshot_;
  bool is_expandable_ = false;
  MappedRanges ranges_;
  std::unordered_map<std::uint64_t, Block> blocks_;
  std::vector<Range> private_;  ///< segments of private pools, as the snapshot's end has them
  std::set<std::uint64_t> private_starts_;  ///< of ranges whose events name a private pool
};

}  // namespace ohm::reports
