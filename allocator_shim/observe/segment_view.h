// The state of an allocator, segment by segment: plain data for snapshots, reports and checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "allocator_shim/observe/category.h"
#include "allocator_shim/observe/pool_id.h"
#include "allocator_shim/observe/site.h"

namespace ohm {

struct BlockView {
  enum class State : std::uint8_t { active_allocated, active_pending_free, inactive };

  std::uint64_t address = 0;
  std::size_t bytes = 0;
  /// Of an inactive block stale, as PyTorch's snapshots show it: what the block, or the one that it
  /// was cut from, last held.
  std::size_t requested_bytes = 0;
  State state = State::inactive;
  Category category = Category::other;
  SiteId site = kUnknownSite;

  friend bool operator==(const BlockView&, const BlockView&) = default;
};

/// PyTorch's word for it: "active_allocated", ….
constexpr std::string_view name_of(BlockView::State state) {
  constexpr std::string_view kNames[] = {"active_allocated", "active_pending_free", "inactive"};
  return kNames[static_cast<std::size_t>(state)];
}

/// One segment, or one contiguous mapped range of an expandable one.
struct SegmentView {
  std::uint64_t address = 0;
  std::size_t bytes = 0;
  std::uint64_t reservation_address = 0;  ///< expandable: of the reserved range; else `address`
  std::size_t reservation_bytes = 0;      ///< expandable: of the reserved range; else `bytes`
  std::uint32_t stream = 0;
  PoolId pool = kNormalPool;
  bool is_small = false;
  bool is_expandable = false;
  std::vector<BlockView> blocks;  ///< in address order, without gaps

  friend bool operator==(const SegmentView&, const SegmentView&) = default;
};

}  // namespace ohm
