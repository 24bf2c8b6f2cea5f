// The sizes of blocks, of which a record has only the bytes that were asked for.
//
// A free block is split for a request unless too little would be left, by the rules of the caching
// allocator: what was free at the address of a request tells how much the request got. Exact for a
// device whose record begins with its first segment; where the beginning is missing, a request
// whose free block is not known counts as what was asked for, rounded.
#pragma once

#include <cstdint>
#include <map>

#include "allocator_shim/base/size_policy.h"
#include "allocator_shim/snapshot/snapshot.h"
#include "reports/history/recorded_beginning.h"

namespace ohm::reports {

/// One device, at some event of its trace.
class BlockSizes {
 public:
  BlockSizes(const Snapshot& snapshot, const RecordedBeginning& beginning);

  /// Follows an event. Of an `alloc`: the bytes of its block; else 0.
  std::uint64_t follow(const TraceEntry& entry);

 private:
  using Ranges = std::map<std::uint64_t, std::uint64_t>;  ///< bytes, by address

  std::uint64_t allocate(std::uint64_t address, std::uint64_t requested);
  void release(std::uint64_t address);
  void add_free(std::uint64_t address, std::uint64_t bytes);
  void remove_free(std::uint64_t address, std::uint64_t bytes);
  bool is_split(std::uint64_t rounded, std::uint64_t rest) const;
  bool begins_segment(std::uint64_t address) const { return segments_.contains(address); }

  RoundupDivisions divisions_ = {};
  std::uint64_t max_split_size_;
  bool splits_to_the_unit_ = false;  ///< blocks of any size: segments are expandable
  Ranges free_;
  Ranges blocks_;
  /// Neighbours in different segments are never one block. Mapped ranges of an expandable segment
  /// are not segments of their own.
  Ranges segments_;
};

}  // namespace ohm::reports
