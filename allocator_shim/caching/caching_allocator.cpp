#include "allocator_shim/caching/caching_allocator.h"

#include <algorithm>
#include <utility>

#include "allocator_shim/base/assert.h"
#include "allocator_shim/base/size_policy.h"

namespace ohm {
namespace {

/// What an expandable block could grow to.
std::size_t expandable_bytes(const Block& block) {
  const bool can_grow = block.next != nullptr && !block.next->is_mapped;
  return block.bytes + (can_grow ? block.next->bytes : 0);
}

}  // namespace

// ---- serving a request --------------------------------------------------------------------------

[[gnu::flatten]] Allocation CachingAllocator::allocate(const AllocationRequest& request) {
  if (request.bytes == 0) return {};
  if (request.bytes >= kTooManyBytes) refuse_absurd(request);
  if (!deferred_.empty()) complete_finished_frees();
  const std::size_t rounded_bytes = rounded(request.bytes);
  BlockPool& pool = pool_for(request.stream, rounded_bytes);
  Block* block = take_cached(pool, rounded_bytes);
  if (block == nullptr) {
    block = &obtain({request, pool, rounded_bytes, segment_bytes_for(rounded_bytes)});
  }
  if (should_split(*block, rounded_bytes)) {
    split(*block, rounded_bytes);
  } else if (block->is_split() && !block->is_expandable) {
    const auto bytes = static_cast<std::int64_t>(block->bytes);
    counters_.decrease(pool.kind(), Metric::inactive_split_bytes, bytes);
    counters_.decrease(pool.kind(), Metric::inactive_split, 1);
  }
  return hand_out(*block, request);
}

std::size_t CachingAllocator::rounded(std::size_t bytes) const {
  if (rounds_to_divisions_) return round_request(bytes, settings_);
  return round_up_to(std::max(bytes, kMinBlockBytes), kMinBlockBytes);
}

BlockPool& CachingAllocator::pool_for(StreamId stream, std::size_t rounded_bytes) {
  if (last_pools_ == nullptr || last_pools_->small.stream() != stream) switch_stream(stream);
  return last_pools_->of(rounded_bytes <= kSmallRequestBytes ? PoolKind::small : PoolKind::large);
}

Block* CachingAllocator::take_cached(BlockPool& pool, std::size_t rounded_bytes) {
  if (counts_searches_) ++searches_[static_cast<std::size_t>(pool.kind())];
  // A block of just this size is the best one by any rule, and the common case.
  if (!settings_.expandable_segments) {
    if (Block* const exact = pool.free.take_exactly(rounded_bytes)) return exact;
  }
  Block* const candidate = best_candidate(pool, rounded_bytes);
  if (candidate == nullptr || !is_allowed(*candidate, rounded_bytes)) return nullptr;
  pool.free.erase(*candidate);
  return candidate;
}

bool CachingAllocator::can_serve_from_cache(const AllocationRequest& request) {
  const std::size_t rounded_bytes = rounded(request.bytes);
  const Block* const candidate =
      best_candidate(pool_for(request.stream, rounded_bytes), rounded_bytes);
  return candidate != nullptr && is_allowed(*candidate, rounded_bytes);
}

Block* CachingAllocator::best_candidate(BlockPool& pool, std::size_t rounded_bytes) const {
  Block* candidate = pool.free.smallest_at_least(rounded_bytes);
  if (candidate == nullptr || !candidate->is_expandable) return candidate;
  if (settings_.expandable_segments) {
    Block* next = pool.free.after(*candidate);
    while (candidate->is_expandable && next != nullptr &&
           expandable_bytes(*next) < expandable_bytes(*candidate)) {
      candidate = std::exchange(next, pool.free.after(*next));
    }
    return candidate;
  }
  // The option was turned off after expandable blocks were made: they serve no request any more.
  while (candidate != nullptr && candidate->is_expandable) candidate = pool.free.after(*candidate);
  return candidate;
}

bool CachingAllocator::is_allowed(const Block& candidate, std::size_t rounded_bytes) const {
  const std::size_t max_split = settings_.max_split_size_bytes;
  if (rounded_bytes < max_split) return candidate.bytes < max_split;
  return candidate.bytes < rounded_bytes + settings_.max_non_split_rounding_bytes;
}

bool CachingAllocator::should_split(const Block& block, std::size_t rounded_bytes) const {
  const std::size_t remaining = block.bytes - rounded_bytes;
  if (block.pool->is_small() || settings_.expandable_segments) return remaining >= kMinBlockBytes;
  return rounded_bytes < settings_.max_split_size_bytes && remaining > kSmallRequestBytes;
}

void CachingAllocator::split(Block& block, std::size_t rounded_bytes) {
  const bool was_split = block.is_split();
  Block& remainder = cut(block, rounded_bytes);
  remainder.requested_bytes = block.requested_bytes;
  put_into_pool(remainder);
  if (block.is_expandable) return;
  const PoolKind kind = block.pool->kind();
  if (was_split) {
    counters_.decrease(kind, Metric::inactive_split_bytes,
                       static_cast<std::int64_t>(rounded_bytes));
  } else {
    counters_.increase(kind, Metric::inactive_split_bytes,
                       static_cast<std::int64_t>(remainder.bytes));
    counters_.increase(kind, Metric::inactive_split, 1);
  }
}

/// Shortens a block to `bytes`; the rest is a new free block after it, in no pool, mapped or not as
/// the block is.
Block& CachingAllocator::cut(Block& block, std::size_t bytes) {
  Block& rest = blocks_.create(block);
  rest.address += bytes;
  rest.bytes -= bytes;
  rest.requested_bytes = 0;
  rest.previous = &block;
  if (rest.next != nullptr) rest.next->previous = &rest;
  block.next = &rest;
  block.bytes = bytes;
  return rest;
}

Allocation CachingAllocator::hand_out(Block& block, const AllocationRequest& request) {
  block.state = BlockState::allocated;
  block.requested_bytes = request.bytes;
  block.site = request.site;
  block.category = request.category;
  record(EventAction::alloc, block);
  if (block.bytes >= settings_.max_split_size_bytes) counters_.oversize_allocations.increase(1);
  const auto bytes = static_cast<std::int64_t>(block.bytes);
  category_bytes_[static_cast<std::size_t>(block.category)] += bytes;
  const bool is_peak = counters_.block_allocated(block.pool->kind(), bytes,
                                                 static_cast<std::int64_t>(request.bytes));
  if (is_peak) peak_category_bytes_ = category_bytes_;
  checkpoint();
  return {&block, block.address, keeps_values_ ? memory_.host_pointer(block.address) : nullptr};
}

// ---- taking a block back ------------------------------------------------------------------------

[[gnu::flatten]] void CachingAllocator::free(BlockHandle handle) {
  if (handle == nullptr) return;
  Block& block = *static_cast<Block*>(handle);
  // Both are looked at soon, and seldom in a cache.
  __builtin_prefetch(block.previous);
  __builtin_prefetch(block.next);
  OHM_ASSERT(block.state == BlockState::allocated, "block is not allocated");
  if (block.is_used_by_other_streams) counters_.separate_active();
  const auto bytes = static_cast<std::int64_t>(block.bytes);
  counters_.block_freed(block.pool->kind(), bytes);
  category_bytes_[static_cast<std::size_t>(block.category)] -= bytes;
  record(EventAction::free_requested, block);
  if (block.bytes >= settings_.max_split_size_bytes) counters_.oversize_allocations.decrease(1);
  if (block.is_used_by_other_streams) {
    holds_frees() ? deferred_.hold(block) : deferred_.defer(block);
  } else {
    complete_free(block);
  }
  checkpoint();
}

void CachingAllocator::complete_free(Block& block) {
  record(EventAction::free_completed, block);
  BlockPool& pool = *block.pool;
  counters_.free_completed(pool.kind(), static_cast<std::int64_t>(block.bytes),
                           static_cast<std::int64_t>(block.requested_bytes));
  const auto freed_bytes = static_cast<std::int64_t>(block.bytes);
  const auto [merged, absorbed] = merge(block);
  put_into_pool(merged);
  if (merged.is_expandable) return;
  // One net change for each counter: peaks and sums depend on it.
  const auto merged_bytes = static_cast<std::int64_t>(merged.bytes);
  const bool is_split = merged.is_split();
  counters_.change(pool.kind(), Metric::inactive_split, (is_split ? 1 : 0) - absorbed);
  counters_.change(pool.kind(), Metric::inactive_split_bytes,
                   is_split ? freed_bytes : freed_bytes - merged_bytes);
}

bool CachingAllocator::can_absorb(const Block& block, const Block* neighbour) {
  return neighbour != nullptr && neighbour->is_free() && neighbour->is_mapped == block.is_mapped;
}

void CachingAllocator::absorb_next(Block& block) {
  Block& next = *block.next;
  block.bytes += next.bytes;
  block.next = next.next;
  if (block.next != nullptr) block.next->previous = &block;
  blocks_.destroy(next);
}

void CachingAllocator::leave_pool(Block& block) {
  if (block.is_mapped) {
    block.pool->free.erase(block);
  } else {
    block.pool->unmapped.erase(block.address);
  }
}

/// Joins a block that is in no pool with the free blocks on both sides; they leave their pools. The
/// result is in no pool, and its stale requested bytes are those of `block`.
CachingAllocator::Merged CachingAllocator::merge(Block& block) {
  Block* merged = &block;
  int absorbed = 0;
  if (can_absorb(block, block.previous)) {
    merged = block.previous;
    leave_pool(*merged);
    merged->requested_bytes = block.requested_bytes;
    absorb_next(*merged);
    ++absorbed;
  }
  if (can_absorb(*merged, merged->next)) {
    leave_pool(*merged->next);
    absorb_next(*merged);
    ++absorbed;
  }
  return {*merged, absorbed};
}

void CachingAllocator::put_into_pool(Block& block) {
  block.state = BlockState::free;
  block.free_since = searches_[static_cast<std::size_t>(block.pool->kind())];
  block.pool->free.insert(block);
}

void CachingAllocator::record(EventAction action, const Block& block) {
  if (events_ == nullptr) return;
  MemoryEvent& event = events_->next_slot();
  event.address = block.address;
  event.bytes = block.requested_bytes;
  event.site = block.site;
  event.stream = block.pool->stream();
  event.block_units = static_cast<std::uint32_t>(block.bytes / MemoryEvent::kUnitBytes);
  event.device = static_cast<std::int8_t>(device_);
  event.action = action;
  event.category = block.category;
  event.is_injected = false;
}

}  // namespace ohm
