// What the caching allocator holds, as others may see it, and whether it adds up.
#include <algorithm>
#include <utility>

#include "allocator_shim/base/assert.h"
#include "allocator_shim/caching/caching_allocator.h"

namespace ohm {
namespace {

BlockView::State view_of(BlockState state) {
  switch (state) {
    case BlockState::allocated:
      return BlockView::State::active_allocated;
    case BlockState::pending_free:
      return BlockView::State::active_pending_free;
    case BlockState::free:
      break;
  }
  return BlockView::State::inactive;
}

BlockView view_of(const Block& block) {
  BlockView view;
  view.address = block.address;
  view.bytes = block.bytes;
  view.requested_bytes = block.requested_bytes;
  view.state = view_of(block.state);
  if (!block.is_free()) {
    view.category = block.category;
    view.site = block.site;
  }
  return view;
}

}  // namespace

std::vector<LiveBlock> CachingAllocator::live_blocks() const {
  std::vector<LiveBlock> live;
  live.reserve(static_cast<std::size_t>(counters_.current_of_all(Metric::allocation)));
  for (const auto& [address, segment] : segments_) {
    for (const Block* block = segment.first; block != nullptr; block = block->next) {
      if (block->is_free()) continue;
      live.push_back({block->address, block->bytes, block->requested_bytes, block->category,
                      block->site, block->state == BlockState::pending_free});
    }
  }
  return live;
}

std::vector<SegmentView> CachingAllocator::segments() const {
  std::vector<SegmentView> views;
  for (const auto& [address, segment] : segments_) {
    bool is_continued = false;
    for (const Block* block = segment.first; block != nullptr; block = block->next) {
      if (block->is_mapped && !is_continued) {
        views.emplace_back();
        views.back().address = block->address;
        views.back().reservation_address = address;
        views.back().reservation_bytes = segment.bytes;
        views.back().stream = block->pool->stream();
        views.back().pool = block->pool->id();
        views.back().is_small = block->pool->is_small();
        views.back().is_expandable = block->is_expandable;
      }
      is_continued = block->is_mapped;
      if (!block->is_mapped) continue;
      views.back().bytes += block->bytes;
      views.back().blocks.push_back(view_of(*block));
    }
  }
  return views;
}

std::vector<DeviceAddress> CachingAllocator::segments_oldest_first() const {
  std::vector<std::pair<std::uint32_t, DeviceAddress>> numbered;
  numbered.reserve(segments_.size());
  for (const auto& [address, segment] : segments_) {
    numbered.emplace_back(segment.first->segment_number, address);
  }
  std::sort(numbered.begin(), numbered.end());
  std::vector<DeviceAddress> oldest_first;
  oldest_first.reserve(numbered.size());
  for (const auto& [number, address] : numbered) oldest_first.push_back(address);
  return oldest_first;
}

// ---- invariants ---------------------------------------------------------------------------------

namespace {

/// What the blocks add up to, to compare with the counters. Index with StatPool.
struct Sums {
  std::array<std::int64_t, 3> allocation = {}, active = {}, segment = {}, inactive_split = {};
  std::array<std::int64_t, 3> allocated_bytes = {}, active_bytes = {}, reserved_bytes = {},
                              inactive_split_bytes = {}, requested_bytes = {};
  CategoryBytes category_bytes = {};
};

void add(std::array<std::int64_t, 3>& sums, PoolKind kind, std::size_t amount) {
  sums[static_cast<std::size_t>(StatPool::all)] += static_cast<std::int64_t>(amount);
  sums[static_cast<std::size_t>(stat_pool_of(kind))] += static_cast<std::int64_t>(amount);
}

void add(Sums& sums, const Block& block) {
  const PoolKind kind = block.pool->kind();
  if (block.is_mapped) add(sums.reserved_bytes, kind, block.bytes);
  if (block.is_free()) {
    if (block.is_expandable || !block.is_split()) return;
    add(sums.inactive_split, kind, 1);
    add(sums.inactive_split_bytes, kind, block.bytes);
    return;
  }
  add(sums.active, kind, 1);
  add(sums.active_bytes, kind, block.bytes);
  add(sums.requested_bytes, kind, block.requested_bytes);
  if (block.state == BlockState::pending_free) return;
  add(sums.allocation, kind, 1);
  add(sums.allocated_bytes, kind, block.bytes);
  sums.category_bytes[static_cast<std::size_t>(block.category)] +=
      static_cast<std::int64_t>(block.bytes);
}

void check_block(const Block& block, const Block* previous) {
  OHM_ASSERT(block.bytes > 0 && block.bytes % 512 == 0, "a block is a multiple of 512 bytes");
  OHM_ASSERT(block.previous == previous, "blocks are linked both ways");
  OHM_ASSERT(block.is_free() || block.is_mapped, "a block in use has memory");
  OHM_ASSERT(block.is_free() || block.requested_bytes <= block.bytes, "a block holds its request");
  OHM_ASSERT(block.is_mapped || block.is_expandable, "only expandable segments have gaps");
  if (previous == nullptr) return;
  OHM_ASSERT(previous->end() == block.address, "blocks tile their segment");
  OHM_ASSERT(previous->pool == block.pool, "the pool is a property of the segment");
  OHM_ASSERT(previous->segment_number == block.segment_number, "a segment has one number");
  const bool both_free = previous->is_free() && block.is_free();
  OHM_ASSERT(!both_free || previous->is_mapped != block.is_mapped, "free neighbours have merged");
}

void check_counter(const PooledStat& stat, const std::array<std::int64_t, 3>& sums,
                   const char* what) {
  for (std::size_t pool = 0; pool < sums.size(); ++pool) {
    OHM_ASSERT(stat[pool].current == sums[pool], what);
    OHM_ASSERT(stat[pool].peak >= stat[pool].current, what);
  }
  const auto small = static_cast<std::size_t>(StatPool::small_pool);
  const auto large = static_cast<std::size_t>(StatPool::large_pool);
  OHM_ASSERT(stat[0].allocated == stat[small].allocated + stat[large].allocated, what);
  OHM_ASSERT(stat[0].freed == stat[small].freed + stat[large].freed, what);
}

void check_counters(const MemoryStats& stats, const Sums& sums) {
  check_counter(stats.allocation, sums.allocation, "allocation");
  check_counter(stats.active, sums.active, "active");
  check_counter(stats.segment, sums.segment, "segment");
  check_counter(stats.inactive_split, sums.inactive_split, "inactive_split");
  check_counter(stats.allocated_bytes, sums.allocated_bytes, "allocated_bytes");
  check_counter(stats.active_bytes, sums.active_bytes, "active_bytes");
  check_counter(stats.reserved_bytes, sums.reserved_bytes, "reserved_bytes");
  check_counter(stats.inactive_split_bytes, sums.inactive_split_bytes, "inactive_split_bytes");
  check_counter(stats.requested_bytes, sums.requested_bytes, "requested_bytes");
  OHM_ASSERT(stats.requested_bytes[0].current <= stats.active_bytes[0].current,
             "requested <= active");
  OHM_ASSERT(stats.allocated_bytes[0].current <= stats.active_bytes[0].current,
             "allocated <= active");
  OHM_ASSERT(stats.active_bytes[0].current <= stats.reserved_bytes[0].current,
             "active <= reserved");
}

}  // namespace

void CachingAllocator::check_invariants() const {
  Sums sums;
  std::size_t free_count = 0;
  DeviceAddress last_end = 0;
  for (const auto& [address, segment] : segments_) {
    OHM_ASSERT(address >= last_end, "segments do not overlap");
    last_end = address + segment.bytes;
    OHM_ASSERT(segment.first->address == address, "a segment begins with its first block");
    const Block* previous = nullptr;
    for (const Block* block = segment.first; block != nullptr; block = block->next) {
      check_block(*block, previous);
      add(sums, *block);
      if (block->is_free() && block->is_mapped) ++free_count;
      previous = block;
    }
    OHM_ASSERT(previous->end() == last_end, "blocks tile their segment");
    if (segment.chunk_bytes == 0) add(sums.segment, previous->pool->kind(), 1);
  }
  const auto check_pools = [&free_count](const PoolsOfStreams& of_streams) {
    for (const auto& [stream, pools] : of_streams) {
      for (const BlockPool* const pool : {&pools.small, &pools.large}) {
        for (const Block* block = pool->free.smallest(); block != nullptr;
             block = pool->free.after(*block)) {
          OHM_ASSERT(block->is_free() && block->is_mapped && block->pool == pool,
                     "a pool holds its own free blocks");
          OHM_ASSERT(free_count-- > 0, "a pool holds each free block once");
        }
      }
    }
  };
  check_pools(pools_);
  for (const auto& [id, pool] : private_pools_) check_pools(pool.streams);
  OHM_ASSERT(free_count == 0, "every free block is in its pool");
  OHM_ASSERT(category_bytes_ == sums.category_bytes, "allocated bytes by category");
  check_counters(stats(), sums);
}

void CachingAllocator::check_and_rearm() {
  check_invariants();
  const auto& active = stats().active[static_cast<std::size_t>(StatPool::all)];
  steps_until_check_ = 1 + static_cast<std::size_t>(active.current);
}

}  // namespace ohm
