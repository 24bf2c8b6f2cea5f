// Note [Expandable segments]
// Instead of many segments, one range of addresses for each stream and pool, larger than the
// device; memory is put behind it in chunks, where a request needs it. So what is cached stays one
// piece and grows. A range is a chain of blocks like any other segment, except that some are
// unmapped: addresses only. Mapped and unmapped neighbours do not merge.
#include <algorithm>
#include <iterator>

#include "allocator_shim/base/assert.h"
#include "allocator_shim/base/size_policy.h"
#include "allocator_shim/caching/caching_allocator.h"

namespace ohm {
namespace {

/// Whether the free and unmapped blocks from `block` on have room for `bytes`.
bool has_room(const Block* block, std::size_t bytes) {
  std::size_t room = 0;
  for (; room < bytes && block != nullptr && block->is_free(); block = block->next) {
    room += block->bytes;
  }
  return room >= bytes;
}

}  // namespace

CachingAllocator::Segment& CachingAllocator::segment_of(const Block& block) {
  return std::prev(segments_.upper_bound(block.address))->second;
}

/// A free block of at least the rounded request, in no pool; nullptr when the device has no room.
/// What was mapped before it ran out stays mapped and cached.
Block* CachingAllocator::new_expandable_block(const Search& search) {
  Block* candidate = find_expandable_block(search);
  if (!candidate->is_mapped) {
    candidate = map(*candidate, std::min(candidate->bytes, search.rounded_bytes));
  }
  while (candidate != nullptr && candidate->bytes < search.rounded_bytes) {
    if (candidate->next == nullptr) return nullptr;  // more than the device has
    const std::size_t missing = search.rounded_bytes - candidate->bytes;
    Block& next = *candidate->next;
    candidate = map(next, std::min(next.bytes, missing));
  }
  if (candidate != nullptr) search.pool.free.erase(*candidate);
  return candidate;
}

/// The beginning of a chain of free and unmapped blocks that is long enough.
Block* CachingAllocator::find_expandable_block(const Search& search) {
  for (const auto& [address, unmapped] : search.pool.unmapped) {
    Block* const before = unmapped->previous;
    Block* const first = before != nullptr && before->is_free() ? before : unmapped;
    if (has_room(first, search.rounded_bytes)) return first;
  }
  return &new_reservation(search);
}

Block& CachingAllocator::new_reservation(const Search& search) {
  const std::size_t chunk_bytes = search.pool.is_small() ? kSmallBufferBytes : kLargeBufferBytes;
  // An eighth more than the device has, so that blocks in use at the front do not keep the memory
  // that could be unmapped before them from being put at the end.
  const std::size_t total_bytes = memory_.info().total_bytes;
  const std::size_t bytes = round_up_to(total_bytes + total_bytes / 8, chunk_bytes);
  Block& block = blocks_.create({});
  block.address = memory_.reserve_range(bytes);
  block.bytes = bytes;
  block.pool = &search.pool;
  block.segment_number = next_segment_number();
  block.is_expandable = true;
  block.is_mapped = false;
  keeps_values_ = memory_.host_pointer(block.address) != nullptr;
  segments_.emplace(block.address, Segment{&block, bytes, chunk_bytes});
  search.pool.unmapped.emplace(block.address, &block);
  return block;
}

/// Puts memory behind at least the first `bytes` of an unmapped block: whole chunks. The result,
/// merged with its free neighbours, is in its pool; nullptr when the device has no room.
Block* CachingAllocator::map(Block& block, std::size_t bytes) {
  BlockPool& pool = *block.pool;
  const std::size_t chunk_bytes = segment_of(block).chunk_bytes;
  const std::size_t mapped_bytes = round_up_to(bytes, chunk_bytes);
  if (!memory_.map(block.address, mapped_bytes, chunk_bytes)) return nullptr;
  const DeviceAddress address = block.address;
  pool.unmapped.erase(address);
  if (mapped_bytes < block.bytes) {
    Block& rest = cut(block, mapped_bytes);
    pool.unmapped.emplace(rest.address, &rest);
  }
  block.is_mapped = true;
  Block& merged = merge(block).block;
  put_into_pool(merged);

  counters_.increase(pool.kind(), Metric::reserved_bytes, static_cast<std::int64_t>(mapped_bytes));
  ++counters_.num_device_alloc;
  record_segment(EventAction::segment_map, pool, address, mapped_bytes);
  return &merged;
}

/// Takes the memory back from the whole chunks inside a free block; what is left of it on both
/// sides stays cached. A range without any memory is given up.
void CachingAllocator::unmap(Block& block) {
  BlockPool& pool = *block.pool;
  const Segment& segment = segment_of(block);
  const std::size_t chunk_bytes = segment.chunk_bytes;
  const DeviceAddress base = segment.first->address;
  const DeviceAddress begin = base + round_up_to(block.address - base, chunk_bytes);
  const DeviceAddress end = base + (block.end() - base) / chunk_bytes * chunk_bytes;
  if (begin >= end) return;
  pool.free.erase(block);
  Block* middle = &block;
  const std::size_t stale_requested_bytes = block.requested_bytes;
  if (block.address < begin) {
    middle = &cut(block, begin - block.address);
    block.requested_bytes = 0;
    put_into_pool(block);
  }
  if (end < middle->end()) put_into_pool(cut(*middle, end - begin));
  middle->requested_bytes = stale_requested_bytes;
  middle->is_mapped = false;
  memory_.unmap(begin, end - begin, chunk_bytes);
  Block& merged = merge(*middle).block;
  pool.unmapped.emplace(merged.address, &merged);

  const std::size_t unmapped_bytes = end - begin;
  counters_.decrease(pool.kind(), Metric::reserved_bytes,
                     static_cast<std::int64_t>(unmapped_bytes));
  ++counters_.num_device_free;
  record_segment(EventAction::segment_unmap, pool, begin, unmapped_bytes);
  if (!merged.is_split()) release_reservation(merged);
}

void CachingAllocator::release_reservation(Block& block) {
  block.pool->unmapped.erase(block.address);
  memory_.release_range(block.address, block.bytes);
  segments_.erase(block.address);
  blocks_.destroy(block);
}

}  // namespace ohm
