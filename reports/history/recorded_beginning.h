// The memory that a device held before the first event of its record: the end, undone event by
// event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "allocator_shim/snapshot/snapshot.h"
#include "reports/history/mapped_ranges.h"

namespace ohm::reports {

class RecordedBeginning {
 public:
  RecordedBeginning(const Snapshot& snapshot, std::size_t device);

  struct Block {
    std::uint64_t bytes = 0;
    StackId stack = kNoStack;
    TextId category = kNoText;
    bool is_at_end = false;
  };

  /// Bytes mapped, by address.
  const MappedRanges& mapped() const { return ranges_; }
  const MappedRanges::Map& ranges() const { return ranges_.all(); }
  const std::unordered_map<std::uint64_t, Block>& blocks() const { return blocks_; }
  /// Of the block that an event made, where it was still there at the end; else 0.
  std::uint64_t bytes_at_end(std::size_t index) const {
    const auto found = bytes_at_end_.find(index);
    return found == bytes_at_end_.end() ? 0 : found->second;
  }

 private:
  void undo(std::size_t index, const TraceEntry& entry, const Snapshot& snapshot);
  void undo_alloc(std::size_t index, const TraceEntry& entry);

  MappedRanges ranges_;
  std::unordered_map<std::uint64_t, Block> blocks_;
  std::unordered_map<std::size_t, std::uint64_t> bytes_at_end_;
};

}  // namespace ohm::reports
