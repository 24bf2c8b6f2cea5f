#include "tests/support/literal_allocator.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace ohm::test {
bool LiteralAllocator::ByStreamSizeAddress::operator()(const Block* a, const Block* b) const {
  return std::tie(a->stream, a->size, a->address) < std::tie(b->stream, b->size, b->address);
}
bool LiteralAllocator::ByStreamAddress::operator()(const Block* a, const Block* b) const {
  return std::tie(a->stream, a->address) < std::tie(b->stream, b->address);
}

LiteralAllocator::LiteralAllocator(DeviceMemory& memory, StreamEvents& streams,
                                   AllocatorSettings settings)
    : memory_(memory), streams_(streams), settings_(std::move(settings)) {
  small_.is_small = true;
}

LiteralAllocator::~LiteralAllocator() {
  for (Block* const block : all_blocks()) delete_block(block);
}

LiteralAllocator::Block* LiteralAllocator::new_block(StreamId stream, std::size_t bytes, Pool* pool,
                                                     DeviceAddress address) {
  auto block = std::make_unique<Block>();
  block->stream = stream;
  block->size = bytes;
  block->pool = pool;
  block->address = address;
  return block.release();
}

void LiteralAllocator::delete_block(Block* block) { const std::unique_ptr<Block> owner(block); }

std::vector<LiteralAllocator::Block*> LiteralAllocator::all_blocks() const {
  std::vector<Block*> blocks(active_.begin(), active_.end());
  for (const Pool* const pool : {&small_, &large_}) {
    blocks.insert(blocks.end(), pool->free.begin(), pool->free.end());
    blocks.insert(blocks.end(), pool->unmapped.begin(), pool->unmapped.end());
  }
  return blocks;
}

void LiteralAllocator::splice(Block* block, Block* before, Block* after) {
  block->prev = before;
  block->next = after;
  if (before != nullptr) before->next = block;
  if (after != nullptr) after->prev = block;
}

void LiteralAllocator::change(const Pool& pool, std::initializer_list<Change> changes) {
  for (const Change& one : changes) {
    for (const std::size_t index :
         {std::size_t{0}, pool.is_small ? std::size_t{1} : std::size_t{2}}) {
      Stat& stat = (stats_.*one.stat)[index];
      if (one.amount > 0) stat.increase(one.amount);
      if (one.amount < 0) stat.decrease(-one.amount);
    }
  }
}

std::size_t LiteralAllocator::total() const {
  return static_cast<std::size_t>(stats_.reserved_bytes[0].current);
}

std::size_t LiteralAllocator::round(std::size_t bytes) const {
  if (bytes < 512) return 512;
  std::size_t power = 1;
  int log2 = 0;
  while (power * 2 <= bytes) {
    power *= 2;
    ++log2;
  }
  const int index = std::clamp(log2 - 20, 0, 15);
  const std::size_t divisions = settings_.roundup_power2_divisions[static_cast<std::size_t>(index)];
  if (divisions > 1 && bytes > 512 * divisions) {
    if (bytes == power) return bytes;
    const std::size_t step = power / divisions;
    if (step == 0) return power * 2;
    return (bytes + step - 1) / step * step;
  }
  return (bytes + 511) / 512 * 512;
}

std::optional<DeviceAddress> LiteralAllocator::allocate(std::size_t bytes, StreamId stream) {
  if (bytes == 0) return 0;
  process_events(false);
  Request request;
  request.rounded = round(bytes);
  request.stream = stream;
  request.pool = request.rounded <= kMiB ? &small_ : &large_;
  request.segment = request.rounded <= kMiB ? 2 * kMiB
                    : request.rounded < 10 * kMiB
                        ? 20 * kMiB
                        : (request.rounded + 2 * kMiB - 1) / (2 * kMiB) * (2 * kMiB);
  Block* block = find_free(request);
  if (block == nullptr) block = obtain(request);
  if (block == nullptr) return std::nullopt;

  const std::size_t remaining = block->size - request.rounded;
  const bool splits = block->pool->is_small || settings_.expandable_segments
                          ? remaining >= 512
                          : request.rounded < settings_.max_split_size_bytes && remaining > kMiB;
  const bool was_split = block->is_split();
  const bool counts_splits = block->range == nullptr;
  if (splits) {
    Block* const rest = block;
    block = new_block(stream, request.rounded, request.pool, rest->address);
    block->range = rest->range;
    splice(block, rest->prev, rest);
    rest->address += request.rounded;
    rest->size -= request.rounded;
    put_free(rest);
    if (counts_splits && was_split) {
      change(*request.pool,
             {{&MemoryStats::inactive_split_bytes, -static_cast<std::int64_t>(request.rounded)}});
    } else if (counts_splits) {
      change(*request.pool,
             {{&MemoryStats::inactive_split_bytes, static_cast<std::int64_t>(rest->size)},
              {&MemoryStats::inactive_split, 1}});
    }
  } else if (was_split && counts_splits) {
    change(*request.pool,
           {{&MemoryStats::inactive_split_bytes, -static_cast<std::int64_t>(block->size)},
            {&MemoryStats::inactive_split, -1}});
  }
  block->allocated = true;
  block->requested = bytes;
  active_.insert(block);
  by_address_[block->address] = block;
  const auto size = static_cast<std::int64_t>(block->size);
  change(*request.pool, {{&MemoryStats::allocation, 1},
                         {&MemoryStats::allocated_bytes, size},
                         {&MemoryStats::active, 1},
                         {&MemoryStats::active_bytes, size},
                         {&MemoryStats::requested_bytes, static_cast<std::int64_t>(bytes)}});
  if (block->size >= settings_.max_split_size_bytes) stats_.oversize_allocations.increase(1);
  return block->address;
}

LiteralAllocator::Block* LiteralAllocator::find_free(const Request& request) {
  Pool& pool = *request.pool;
  if (allowed_ && settings_.garbage_collection_threshold > 0) ++pool.searches;
  Block key;
  key.stream = request.stream;
  key.size = request.rounded;
  auto it = pool.free.lower_bound(&key);
  const auto usable = [&](auto at) {
    return at != pool.free.end() && (*at)->stream == request.stream;
  };
  if (!usable(it)) return nullptr;
  if ((*it)->range != nullptr && settings_.expandable_segments) {
    auto next = std::next(it);
    while ((*it)->range != nullptr && usable(next) &&
           (*next)->expandable_size() < (*it)->expandable_size()) {
      it = next++;
    }
  } else {
    while (usable(it) && (*it)->range != nullptr) ++it;
    if (!usable(it)) return nullptr;
  }
  Block* const block = *it;
  const std::size_t max_split = settings_.max_split_size_bytes;
  if (request.rounded < max_split && block->size >= max_split) return nullptr;
  if (request.rounded >= max_split &&
      block->size >= request.rounded + settings_.max_non_split_rounding_bytes) {
    return nullptr;
  }
  pool.free.erase(it);
  return block;
}

LiteralAllocator::Block* LiteralAllocator::obtain(const Request& request) {
  if (allowed_ && settings_.garbage_collection_threshold > 0) collect_garbage();
  Block* block = try_device(request);
  if (block == nullptr && release_available(request)) block = try_device(request);
  if (block == nullptr) {
    release_all();
    ++stats_.num_alloc_retries;
    block = try_device(request);
  }
  if (block == nullptr) ++stats_.num_ooms;
  return block;
}

void LiteralAllocator::collect_garbage() {
  const auto limit = static_cast<std::size_t>(settings_.garbage_collection_threshold *
                                              static_cast<double>(*allowed_));
  if (total() <= limit) return;
  const std::size_t target = total() - limit;
  std::uint64_t sum_age = 0;
  int count = 0;
  for (const Block* const block : large_.free) {
    if (block->is_split()) continue;
    sum_age += large_.searches - block->gc_base;
    ++count;
  }
  std::size_t freed = 0;
  bool freed_one = true;
  while (freed < target && freed_one && count > 0) {
    freed_one = false;
    const double threshold = static_cast<double>(sum_age) / count;
    for (auto it = large_.free.begin(); it != large_.free.end();) {
      Block* const block = *it++;
      const std::uint64_t age = large_.searches - block->gc_base;
      if (block->is_split() || block->range != nullptr || static_cast<double>(age) < threshold) {
        continue;
      }
      freed_one = true;
      freed += block->size;
      sum_age -= age;
      --count;
      release(block);
    }
  }
}

LiteralAllocator::Block* LiteralAllocator::try_device(const Request& request) {
  if (allowed_ && total() + request.segment > *allowed_) return nullptr;
  if (settings_.expandable_segments) return try_expandable(request);
  const auto address = memory_.allocate_segment(request.segment);
  if (!address) return nullptr;
  change(*request.pool,
         {{&MemoryStats::segment, 1},
          {&MemoryStats::reserved_bytes, static_cast<std::int64_t>(request.segment)}});
  if (request.segment >= settings_.max_split_size_bytes) stats_.oversize_segments.increase(1);
  ++stats_.num_device_alloc;
  return new_block(request.stream, request.segment, request.pool, *address);
}

bool LiteralAllocator::release_available(const Request& request) {
  const std::size_t max_split = settings_.max_split_size_bytes;
  if (max_split == AllocatorSettings::kNoMaxSplitSize) return false;
  auto& free = request.pool->free;
  Block key;
  key.stream = request.stream;
  key.size = std::max(request.rounded, max_split);
  const auto it = free.lower_bound(&key);
  if (it != free.end() && (*it)->stream == request.stream) {
    if ((*it)->range != nullptr) return false;
    release(*it);
    return true;
  }
  std::size_t freed = 0;
  std::vector<Block*> largest_first;
  for (Block* const block : free) {
    if (block->stream == request.stream) largest_first.insert(largest_first.begin(), block);
  }
  for (Block* const block : largest_first) {
    if (freed >= key.size || block->size < max_split) break;
    if (block->range != nullptr) continue;
    freed += block->size;
    release(block);
  }
  return freed >= key.size;
}

void LiteralAllocator::release_all() {
  ++stats_.num_sync_all_streams;
  process_events(true);
  for (Pool* const pool : {&large_, &small_}) {
    std::vector<Block*> expandable;
    for (auto it = pool->free.begin(); it != pool->free.end();) {
      Block* const block = *it++;
      if (block->range != nullptr) {
        expandable.push_back(block);
      } else if (!block->is_split()) {
        release(block);
      }
    }
    for (Block* const block : expandable) unmap_whole_chunks(block);
  }
}

void LiteralAllocator::release(Block* block) {
  memory_.free_segment(block->address, block->size);
  ++stats_.num_device_free;
  change(*block->pool, {{&MemoryStats::segment, -1},
                        {&MemoryStats::reserved_bytes, -static_cast<std::int64_t>(block->size)}});
  if (block->size >= settings_.max_split_size_bytes) stats_.oversize_segments.decrease(1);
  block->pool->free.erase(block);
  delete_block(block);
}

void LiteralAllocator::empty_cache() { release_all(); }

void LiteralAllocator::set_memory_fraction(double fraction) {
  allowed_ = static_cast<std::size_t>(
      std::trunc(fraction * static_cast<double>(memory_.info().total_bytes)));
}

void LiteralAllocator::free(DeviceAddress address) {
  if (address == 0) return;
  const auto found = by_address_.find(address);
  if (found == by_address_.end()) throw std::invalid_argument("invalid device pointer: ");
  Block* const block = found->second;
  block->allocated = false;
  change(*block->pool, {{&MemoryStats::allocation, -1},
                        {&MemoryStats::allocated_bytes, -static_cast<std::int64_t>(block->size)}});
  if (block->size >= settings_.max_split_size_bytes) stats_.oversize_allocations.decrease(1);
  if (block->uses.empty()) return complete_free(block);
  for (const StreamId stream : block->uses) {
    events_[stream].emplace_back(streams_.record(stream), block);
    ++block->events;
  }
  block->uses.clear();
}

void LiteralAllocator::record_stream(DeviceAddress address, StreamId stream) {
  if (address == 0) return;
  Block* const block = by_address_.at(address);
  if (stream != block->stream) block->uses.insert(stream);
}

void LiteralAllocator::process_events(bool waits) {
  for (auto& [stream, queue] : events_) {
    while (!queue.empty()) {
      const auto [event, block] = queue.front();
      if (waits) streams_.wait(stream, event);
      if (!streams_.is_complete(stream, event)) break;
      queue.pop_front();
      if (--block->events == 0) complete_free(block);
    }
  }
}

void LiteralAllocator::complete_free(Block* block) {
  const auto size = static_cast<std::int64_t>(block->size);
  const auto requested = static_cast<std::int64_t>(block->requested);
  active_.erase(block);
  by_address_.erase(block->address);
  std::int64_t split_count = 0;
  std::int64_t split_bytes = 0;
  for (Block* const neighbour : {block->prev, block->next}) {
    const std::size_t taken = try_merge(block, neighbour);
    if (taken == 0) continue;
    --split_count;
    split_bytes -= static_cast<std::int64_t>(taken);
  }
  put_free(block);
  if (block->is_split()) {
    ++split_count;
    split_bytes += static_cast<std::int64_t>(block->size);
  }
  if (block->range == nullptr) {
    change(*block->pool, {{&MemoryStats::inactive_split, split_count},
                          {&MemoryStats::inactive_split_bytes, split_bytes}});
  }
  change(*block->pool, {{&MemoryStats::active, -1},
                        {&MemoryStats::active_bytes, -size},
                        {&MemoryStats::requested_bytes, -requested}});
}

std::size_t LiteralAllocator::try_merge(Block* into, Block* neighbour) {
  if (neighbour == nullptr || !neighbour->is_free() || neighbour->mapped != into->mapped) return 0;
  if (neighbour->mapped) {
    neighbour->pool->free.erase(neighbour);
  } else {
    neighbour->pool->unmapped.erase(neighbour);
  }
  const std::size_t size = neighbour->size;
  if (into->prev == neighbour) {
    into->address = neighbour->address;
    splice(into, neighbour->prev, into->next);
  } else {
    splice(into, into->prev, neighbour->next);
  }
  into->size += size;
  delete_block(neighbour);
  return size;
}

void LiteralAllocator::put_free(Block* block) {
  block->gc_base = block->pool->searches;
  block->pool->free.insert(block);
}

std::vector<SegmentView> LiteralAllocator::segments() const {
  std::map<DeviceAddress, const Block*> heads;
  for (const Block* const block : all_blocks()) {
    const bool begins = block->prev == nullptr || !block->prev->mapped;
    if (block->mapped && begins) heads[block->address] = block;
  }
  std::vector<SegmentView> views;
  for (const auto& [address, head] : heads) {
    SegmentView view;
    view.address = address;
    view.reservation_address = head->range != nullptr ? head->range->address : address;
    view.stream = head->stream;
    view.is_small = head->pool->is_small;
    view.is_expandable = head->range != nullptr;
    for (const Block* block = head; block != nullptr && block->mapped; block = block->next) {
      using State = BlockView::State;
      const State state = block->allocated   ? State::active_allocated
                          : block->is_free() ? State::inactive
                                             : State::active_pending_free;
      view.bytes += block->size;
      view.blocks.push_back(
          {block->address, block->size, block->requested, state, Category::other, kUnknownSite});
    }
    view.reservation_bytes = head->range != nullptr ? head->range->bytes : view.bytes;
    views.push_back(std::move(view));
  }
  return views;
}

}  // namespace ohm::test
