// The literal allocator's expandable segments.
#include <algorithm>
#include <memory>

#include "tests/support/literal_allocator.h"

namespace ohm::test {
LiteralAllocator::Block* LiteralAllocator::try_expandable(const Request& request) {
  Block* block = find_chain(request);
  if (!block->mapped && !map_some(block, std::min(block->size, request.rounded))) return nullptr;
  while (block->size < request.rounded) {
    Block* const next = block->next;
    if (!map_some(next, std::min(next->size, request.rounded - block->size))) return nullptr;
    block = next;
  }
  request.pool->free.erase(block);
  return block;
}

LiteralAllocator::Block* LiteralAllocator::find_chain(const Request& request) {
  for (Block* const unmapped : request.pool->unmapped) {
    if (unmapped->stream != request.stream) continue;
    Block* const prev = unmapped->prev;
    Block* const first = prev != nullptr && prev->is_free() ? prev : unmapped;
    std::size_t room = 0;
    for (const Block* block = first; block != nullptr && block->is_free(); block = block->next) {
      room += block->size;
    }
    if (room >= request.rounded) return first;
  }
  auto range = std::make_unique<Range>();
  range->chunk = request.pool->is_small ? 2 * kMiB : 20 * kMiB;
  const std::size_t device = memory_.info().total_bytes;
  range->bytes = (device + device / 8 + range->chunk - 1) / range->chunk * range->chunk;
  range->address = memory_.reserve_range(range->bytes);
  Block* const block = new_block(request.stream, range->bytes, request.pool, range->address);
  block->mapped = false;
  block->range = range.get();
  ranges_.push_back(std::move(range));
  request.pool->unmapped.insert(block);
  return block;
}

bool LiteralAllocator::map_some(Block* block, std::size_t bytes) {
  const std::size_t chunk = block->range->chunk;
  const std::size_t mapped = (bytes + chunk - 1) / chunk * chunk;
  if (!memory_.map(block->address, mapped, chunk)) return false;
  block->pool->unmapped.erase(block);
  block->mapped = true;
  if (mapped < block->size) {
    Block* const rest =
        new_block(block->stream, block->size - mapped, block->pool, block->address + mapped);
    rest->mapped = false;
    rest->range = block->range;
    splice(rest, block, block->next);
    block->size = mapped;
    block->pool->unmapped.insert(rest);
  }
  try_merge(block, block->prev);
  try_merge(block, block->next);
  put_free(block);
  change(*block->pool, {{&MemoryStats::reserved_bytes, static_cast<std::int64_t>(mapped)}});
  ++stats_.num_device_alloc;
  return true;
}

void LiteralAllocator::unmap_whole_chunks(Block* block) {
  const std::size_t chunk = block->range->chunk;
  const std::size_t begin = (block->address - block->range->address + chunk - 1) / chunk * chunk;
  const std::size_t end = (block->address + block->size - block->range->address) / chunk * chunk;
  if (begin >= end) return;
  const DeviceAddress address = block->range->address + begin;
  block->pool->free.erase(block);
  const auto leave = [&](DeviceAddress at, std::size_t bytes) {
    Block* const left = new_block(block->stream, bytes, block->pool, at);
    left->range = block->range;
    put_free(left);
    return left;
  };
  const std::size_t before = address - block->address;
  const std::size_t after = block->size - before - (end - begin);
  if (before > 0) splice(leave(block->address, before), block->prev, block);
  if (after > 0) splice(leave(address + (end - begin), after), block, block->next);
  block->address = address;
  block->size = end - begin;
  block->mapped = false;
  memory_.unmap(address, end - begin, chunk);
  try_merge(block, block->prev);
  try_merge(block, block->next);
  block->pool->unmapped.insert(block);
  change(*block->pool, {{&MemoryStats::reserved_bytes, -static_cast<std::int64_t>(end - begin)}});
  ++stats_.num_device_free;
  if (block->is_split()) return;
  memory_.release_range(block->address, block->size);
  block->pool->unmapped.erase(block);
  delete_block(block);
}

}  // namespace ohm::test
