// What the caching allocator does when nothing cached fits: PyTorch's steps, in PyTorch's order.
#include <algorithm>
#include <utility>

#include "allocator_shim/base/assert.h"
#include "allocator_shim/base/size_policy.h"
#include "allocator_shim/caching/caching_allocator.h"
#include "allocator_shim/caching/oom_message.h"

namespace ohm {

/// In ascending order of streams; private pools keep what they have.
template <typename Visit>
void CachingAllocator::for_each_pool(PoolKind kind, Visit visit) {
  for (auto& [stream, pools] : pools_) {
    if (!pools.is_private) visit(pools.of(kind));
  }
}

Block& CachingAllocator::obtain(const Search& search) {
  if (run_free_memory_callbacks()) {
    if (Block* const block = take_cached(search.pool, search.rounded_bytes)) return *block;
  }
  if (counts_searches_) collect_garbage();
  if (Block* const block = try_new_memory(search)) return *block;
  if (release_available(search)) {
    if (Block* const block = try_new_memory(search)) return *block;
  }
  if (!may_release_all()) fail(search);
  release_all_cached();
  ++counters_.num_alloc_retries;
  if (Block* const block = try_new_memory(search)) return *block;
  fail(search);
}

bool CachingAllocator::run_free_memory_callbacks() {
  bool freed = false;
  for (const FreeMemoryCallback& callback : callbacks_) freed = callback() || freed;
  return freed;
}

// ---- garbage collection -------------------------------------------------------------------------

bool CachingAllocator::is_garbage_collection_armed() const {
  return allowed_bytes_.has_value() && settings_.garbage_collection_threshold > 0;
}

/// Frees segments that have gone unused for longer than the average one, until reserved memory is
/// back at the threshold.
void CachingAllocator::collect_garbage() {
  const auto limit = static_cast<std::size_t>(settings_.garbage_collection_threshold *
                                              static_cast<double>(*allowed_bytes_));
  if (reserved_bytes() <= limit) return;
  const std::size_t target_bytes = reserved_bytes() - limit;
  const std::uint32_t now = searches_[static_cast<std::size_t>(PoolKind::large)];
  std::vector<Block*> unsplit;
  std::uint64_t age_sum = 0;
  for_each_pool(PoolKind::large, [&](BlockPool& pool) {
    for (Block* block = pool.free.smallest(); block != nullptr; block = pool.free.after(*block)) {
      if (block->is_split()) continue;
      unsplit.push_back(block);
      age_sum += std::uint32_t{now - block->free_since};
    }
  });
  std::size_t left = unsplit.size();
  std::size_t freed_bytes = 0;
  for (bool has_freed = true; has_freed && freed_bytes < target_bytes && left > 0;) {
    const double threshold_age = static_cast<double>(age_sum) / static_cast<double>(left);
    has_freed = false;
    for (Block*& block : unsplit) {
      if (block == nullptr || block->is_expandable) continue;
      const std::uint32_t age = now - block->free_since;
      if (static_cast<double>(age) < threshold_age) continue;
      has_freed = true;
      freed_bytes += block->bytes;
      age_sum -= age;
      --left;
      release_segment(*std::exchange(block, nullptr));
    }
  }
}

// ---- asking the device --------------------------------------------------------------------------

Block* CachingAllocator::try_new_memory(const Search& search) {
  if (allowed_bytes_ && reserved_bytes() + search.segment_bytes > *allowed_bytes_) return nullptr;
  return settings_.expandable_segments ? new_expandable_block(search) : new_segment(search);
}

Block* CachingAllocator::new_segment(const Search& search) {
  const auto address = memory_.allocate_segment(search.segment_bytes);
  if (!address) return nullptr;
  keeps_values_ = memory_.host_pointer(*address) != nullptr;
  Block& block = blocks_.create({});
  block.address = *address;
  block.bytes = search.segment_bytes;
  block.pool = &search.pool;
  block.segment_number = next_segment_number();
  segments_.emplace(*address, Segment{&block, search.segment_bytes, 0});

  const PoolKind kind = search.pool.kind();
  counters_.increase(kind, Metric::segment, 1);
  counters_.increase(kind, Metric::reserved_bytes, static_cast<std::int64_t>(search.segment_bytes));
  if (search.segment_bytes >= settings_.max_split_size_bytes) {
    counters_.oversize_segments.increase(1);
  }
  ++counters_.num_device_alloc;
  record_segment(EventAction::segment_alloc, search.pool, *address, search.segment_bytes);
  return &block;
}

// ---- giving back --------------------------------------------------------------------------------

/// With max_split_size set: frees as much of this pool's oversize blocks as the request needs. They
/// are whole segments, unless they were made before the setting was: those stay.
bool CachingAllocator::release_available(const Search& search) {
  const std::size_t max_split = settings_.max_split_size_bytes;
  if (max_split == AllocatorSettings::kNoMaxSplitSize) return false;
  FreeBlocks& free = search.pool.free;
  const std::size_t wanted_bytes = std::max(search.rounded_bytes, max_split);
  if (Block* const block = free.smallest_at_least(wanted_bytes)) {
    // Chunks of an expandable segment go with all others, in the next step.
    if (block->is_expandable || block->is_split()) return false;
    release_segment(*block);
    return true;
  }
  std::size_t released_bytes = 0;
  Block* block = free.largest();
  while (block != nullptr && block->bytes >= max_split && released_bytes < wanted_bytes) {
    Block& current = *std::exchange(block, free.before(*block));
    if (current.is_expandable || current.is_split()) continue;
    released_bytes += current.bytes;
    release_segment(current);
  }
  return released_bytes >= wanted_bytes;
}

void CachingAllocator::release_all_cached() {
  ++counters_.num_sync_all_streams;
  complete_all_frees();
  release_cached(PoolKind::large);
  release_cached(PoolKind::small);
  release_idle_pools();
}

void CachingAllocator::release_cached(PoolKind kind) {
  std::vector<BlockPool*> pools;
  for_each_pool(kind, [&pools](BlockPool& pool) { pools.push_back(&pool); });
  release_cached(pools);
}

void CachingAllocator::release_cached(const std::vector<BlockPool*>& pools) {
  std::vector<Block*> unsplit;
  std::vector<Block*> expandable;
  for (const BlockPool* const pool : pools) {
    for (Block* block = pool->free.smallest(); block != nullptr; block = pool->free.after(*block)) {
      if (block->is_expandable) {
        expandable.push_back(block);
      } else if (!block->is_split()) {
        unsplit.push_back(block);
      }
    }
  }
  for (Block* const block : unsplit) release_segment(*block);
  for (Block* const block : expandable) unmap(*block);
}

void CachingAllocator::release_segment(Block& block) {
  OHM_ASSERT(!block.is_split() && !block.is_expandable, "only a whole segment can be released");
  const BlockPool& pool = *block.pool;
  const std::size_t bytes = block.bytes;
  record_segment(EventAction::segment_free, pool, block.address, bytes);
  block.pool->free.erase(block);
  segments_.erase(block.address);
  memory_.free_segment(block.address, bytes);
  blocks_.destroy(block);

  counters_.decrease(pool.kind(), Metric::segment, 1);
  counters_.decrease(pool.kind(), Metric::reserved_bytes, static_cast<std::int64_t>(bytes));
  if (bytes >= settings_.max_split_size_bytes) counters_.oversize_segments.decrease(1);
  ++counters_.num_device_free;
}

bool CachingAllocator::release_cached_segment(DeviceAddress address) {
  const auto segment = segments_.find(address);
  if (segment == segments_.end() || segment->second.chunk_bytes != 0) return false;
  Block& first = *segment->second.first;
  if (!first.is_free() || first.is_split()) return false;
  release_segment(first);
  return true;
}

void CachingAllocator::empty_cache() {
  if (!may_release_all()) return;
  release_all_cached();
  checkpoint();
}

// ---- out of memory ------------------------------------------------------------------------------

void CachingAllocator::refuse_absurd(const AllocationRequest& request) const {
  OutOfMemoryReport report = failure_report(request);
  report.message = "CUDA out of memory. Tried to allocate more than 1EB memory.";
  throw OutOfMemory(std::move(report));
}

void CachingAllocator::fail(const Search& search) {
  ++counters_.num_ooms;
  OutOfMemoryReport report = failure_report(search.request);
  if (events_ != nullptr) {
    MemoryEvent event;
    event.address = report.free_bytes;
    event.bytes = search.rounded_bytes;
    event.site = search.request.site;
    event.stream = search.request.stream;
    event.block_units = packed(search.pool.id());
    event.device = static_cast<std::int8_t>(device_);
    event.action = EventAction::oom;
    event.category = search.request.category;
    events_->add(event);
  }
  throw OutOfMemory(std::move(report));
}

OutOfMemoryReport CachingAllocator::failure_report(const AllocationRequest& request) const {
  const DeviceMemoryInfo info = memory_.info();
  OutOfMemoryReport report;
  report.device = device_;
  report.requested_bytes = request.bytes;
  report.segment_bytes = segment_bytes_for(round_request(request.bytes, settings_));
  report.capacity_bytes = info.total_bytes;
  report.free_bytes = info.free_bytes;
  report.allocated_bytes =
      static_cast<std::size_t>(counters_.current_of_all(Metric::allocated_bytes));
  report.reserved_bytes = reserved_bytes();
  report.private_cached_bytes = private_cached_bytes();
  report.category = request.category;
  report.site = request.site;
  report.message = out_of_memory_message(report, allowed_bytes_, memory_.processes(), rules_,
                                         settings_.expandable_segments);
  return report;
}

}  // namespace ohm
