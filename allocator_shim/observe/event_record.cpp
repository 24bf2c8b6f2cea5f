#include "allocator_shim/observe/event_record.h"

#include <array>
#include <stdexcept>
#include <type_traits>

namespace ohm {

std::string_view name_of(EventAction action) {
  static constexpr std::array<std::string_view, 10> kNames = {
      "alloc",       "free_requested", "free_completed", "segment_alloc", "segment_free",
      "segment_map", "segment_unmap",  "snapshot",       "oom",           "relabel"};
  return kNames[static_cast<std::size_t>(action)];
}

EventRecord::EventRecord(std::size_t max_events) : max_events_(max_events) {
  if (max_events == 0) throw std::invalid_argument("[event record] a bound of 0 events");
}

void EventRecord::FreeChunk::operator()(MemoryEvent* chunk) const {
  std::allocator<MemoryEvent>().deallocate(chunk, events);
}

EventRecord::Chunk EventRecord::new_chunk(std::size_t events) {
  static_assert(std::is_trivially_copyable_v<MemoryEvent>);
  return Chunk(std::allocator<MemoryEvent>().allocate(events), FreeChunk{events});
}

std::size_t EventRecord::written_in_chunk() const {
  return chunks_.empty() ? 0 : static_cast<std::size_t>(next_ - chunks_.back().get());
}

std::size_t EventRecord::size() const {
  if (max_events_) return rounds_ > 0 ? *max_events_ : written_in_chunk();
  return chunks_.empty() ? 0 : (chunks_.size() - 1) * kChunkEvents + written_in_chunk();
}

std::uint64_t EventRecord::dropped() const {
  return rounds_ == 0 ? 0 : (rounds_ - 1) * *max_events_ + written_in_chunk();
}

const MemoryEvent& EventRecord::operator[](std::size_t index) const {
  if (!max_events_) return chunks_[index / kChunkEvents].get()[index % kChunkEvents];
  const std::size_t oldest = rounds_ > 0 ? written_in_chunk() : 0;
  return chunks_.front().get()[(oldest + index) % *max_events_];
}

void EventRecord::clear() {
  chunks_.clear();
  rounds_ = 0;
  next_ = end_ = nullptr;
}

void EventRecord::make_room() {
  const bool overwrites = max_events_ && !chunks_.empty();
  if (overwrites) {
    ++rounds_;
  } else {
    chunks_.push_back(new_chunk(max_events_.value_or(kChunkEvents)));
  }
  next_ = chunks_.back().get();
  end_ = next_ + max_events_.value_or(kChunkEvents);
}

}  // namespace ohm
