// Live blocks and segments, followed through a stream of events.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "allocator_shim/observe/event_record.h"

namespace ohm::reports {

inline constexpr std::uint32_t kStillThere = UINT32_MAX;

/// A block, with the events at which its state changed.
struct BlockSpan {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint32_t begin = 0;
  std::uint32_t freed = kStillThere;  ///< free_requested: it does not count as allocated any more
  std::uint32_t end = kStillThere;    ///< free_completed: its memory is free
  SiteId site = kUnknownSite;
  Category category = Category::other;  ///< the newest
};

struct SegmentSpan {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = kStillThere;
};

/// Of one device.
class LiveMemory {
 public:
  /// Events in their order; those of other actions are passed over, as are frees of blocks that
  /// are not known.
  void add(const MemoryEvent& event, std::uint32_t time);

  std::int64_t allocated_bytes() const { return allocated_bytes_; }
  std::int64_t reserved_bytes() const { return reserved_bytes_; }
  const CategoryBytes& by_category() const { return by_category_; }

  /// All that there ever were, by their begin.
  const std::vector<BlockSpan>& blocks() const { return blocks_; }
  const std::vector<SegmentSpan>& segments() const { return segments_; }

  /// Calls visit(block) for each that counts as allocated now, in no order.
  template <class Visit>
  void for_each_allocated(Visit&& visit) const {
    for (const auto& [address, index] : live_) {
      if (blocks_[index].freed == kStillThere) visit(blocks_[index]);
    }
  }

 private:
  void add_block(const MemoryEvent& event, std::uint32_t time);
  void request_free(const MemoryEvent& event, std::uint32_t time);
  void complete_free(const MemoryEvent& event, std::uint32_t time);
  void relabel(const MemoryEvent& event);
  void map(std::uint64_t address, std::uint64_t bytes, std::uint32_t time);
  void unmap(std::uint64_t address, std::uint64_t bytes, std::uint32_t time);
  void count(const BlockSpan& block, std::int64_t sign);

  std::vector<BlockSpan> blocks_;
  std::vector<SegmentSpan> segments_;
  std::unordered_map<std::uint64_t, std::size_t> live_;
  std::map<std::uint64_t, std::size_t> mapped_;
  std::int64_t allocated_bytes_ = 0;
  std::int64_t reserved_bytes_ = 0;
  CategoryBytes by_category_ = {};
};

}  // namespace ohm::reports
