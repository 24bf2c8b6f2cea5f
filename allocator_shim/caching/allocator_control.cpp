// The caching allocator's life, settings, counters and labels: all that is not allocating.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "allocator_shim/caching/caching_allocator.h"

namespace ohm {

CachingAllocator::CachingAllocator(DeviceMemory& memory, StreamEvents& streams,
                                   const CachingAllocatorOptions& options, EventSink* events)
    : memory_(memory),
      events_(events),
      device_(options.device),
      rules_(options.rules),
      settings_(options.settings),
      deferred_(streams) {
  follow_settings();
  if (settings_.memory_fraction) set_memory_fraction(*settings_.memory_fraction);
}

CachingAllocator::~CachingAllocator() {
  for (const auto& [address, segment] : segments_) {
    if (segment.chunk_bytes == 0) {
      memory_.free_segment(address, segment.bytes);
      continue;
    }
    DeviceAddress begin = address;
    for (const Block* block = segment.first; block != nullptr; block = block->next) {
      if (block->is_mapped) continue;
      if (block->address > begin) {
        memory_.unmap(begin, block->address - begin, segment.chunk_bytes);
      }
      begin = block->end();
    }
    const DeviceAddress end = address + segment.bytes;
    if (end > begin) memory_.unmap(begin, end - begin, segment.chunk_bytes);
    memory_.release_range(address, segment.bytes);
  }
}

// ---- streams and labels -------------------------------------------------------------------------

void CachingAllocator::switch_stream(StreamId stream) { last_pools_ = &pools_serving(stream); }

void CachingAllocator::make_private(StreamId stream) {
  pools_.try_emplace(stream, stream, kNormalPool).first->second.is_private = true;
}

void CachingAllocator::complete_finished_frees() {
  if (holds_frees()) return;
  deferred_.defer_held();
  while (Block* const block = deferred_.next_finished()) complete_free(*block);
}

void CachingAllocator::complete_all_frees() {
  deferred_.defer_held();
  while (Block* const block = deferred_.wait_for_next()) complete_free(*block);
}

void CachingAllocator::record_stream(BlockHandle handle, StreamId stream) {
  if (handle == nullptr) return;
  Block& block = *static_cast<Block*>(handle);
  if (block.pool->stream() != stream) deferred_.add_use(block, stream);
}

void CachingAllocator::set_category(BlockHandle handle, Category category) {
  if (handle == nullptr) return;
  Block& block = *static_cast<Block*>(handle);
  if (block.category == category) return;
  const auto bytes = static_cast<std::int64_t>(block.bytes);
  category_bytes_[static_cast<std::size_t>(block.category)] -= bytes;
  category_bytes_[static_cast<std::size_t>(category)] += bytes;
  block.category = category;
  record(EventAction::relabel, block);
}

// ---- settings -----------------------------------------------------------------------------------

void CachingAllocator::set_memory_fraction(double fraction) {
  if (!(fraction >= 0 && fraction <= 1)) {
    throw std::invalid_argument(
        fmt::format("invalid fraction:{}. Please set within [0, 1].", fraction));
  }
  const auto total = static_cast<double>(memory_.info().total_bytes);
  if (rules_.fraction_of_one_is_no_limit && fraction == 1) {
    set_memory_limit(std::nullopt);
  } else {
    set_memory_limit(static_cast<std::size_t>(fraction * total));
  }
}

void CachingAllocator::set_memory_limit(std::optional<std::size_t> allowed_bytes) {
  allowed_bytes_ = allowed_bytes;
  follow_settings();
}

/// What the hot paths look at, so that they need not look at the settings.
void CachingAllocator::follow_settings() {
  counts_searches_ = is_garbage_collection_armed();
  const auto& divisions = settings_.roundup_power2_divisions;
  rounds_to_divisions_ = std::any_of(divisions.begin(), divisions.end(),
                                     [](std::size_t division) { return division > 1; });
}

void CachingAllocator::apply_settings(std::string_view text) {
  settings_ = parse_settings(text, rules_, settings_);
  follow_settings();
}

void CachingAllocator::add_free_memory_callback(FreeMemoryCallback callback) {
  callbacks_.push_back(std::move(callback));
}

// ---- counters and events ------------------------------------------------------------------------

const MemoryStats& CachingAllocator::stats() const {
  stats_ = counters_.memory_stats();
  if (settings_.max_split_size_bytes != AllocatorSettings::kNoMaxSplitSize) {
    stats_.max_split_size = static_cast<std::int64_t>(settings_.max_split_size_bytes);
  }
  return stats_;
}

void CachingAllocator::reset_peak_stats() {
  counters_.reset_peak();
  peak_category_bytes_ = category_bytes_;
}

void CachingAllocator::reset_accumulated_stats() { counters_.reset_accumulated(); }

std::size_t CachingAllocator::reserved_bytes() const {
  return static_cast<std::size_t>(counters_.current_of_all(Metric::reserved_bytes));
}

void CachingAllocator::record_segment(EventAction action, const BlockPool& pool,
                                      DeviceAddress address, std::size_t bytes) {
  if (events_ == nullptr) return;
  MemoryEvent event;
  event.address = address;
  event.bytes = bytes;
  event.stream = pool.stream();
  event.block_units = packed(pool.id());
  event.device = static_cast<std::int8_t>(device_);
  event.action = action;
  events_->add(event);
}

}  // namespace ohm
