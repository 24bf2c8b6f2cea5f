// The event record: everything that an allocator did, 32 bytes an event.
//
// The actions are PyTorch's, with one of ours: `relabel`, a block whose category was corrected.
// Time is the ordinal of the event: equal runs have equal records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "allocator_shim/observe/category.h"
#include "allocator_shim/observe/site.h"

namespace ohm {

enum class EventAction : std::uint8_t {
  alloc,
  free_requested,
  free_completed,
  segment_alloc,
  segment_free,
  segment_map,
  segment_unmap,
  snapshot,
  oom,
  relabel,
};

/// PyTorch's word for it: "alloc", "segment_map", ….
std::string_view name_of(EventAction action);

struct MemoryEvent {
  std::uint64_t address = 0;  ///< for `oom`: the free bytes of the device
  std::uint64_t bytes =
      0;  ///< a block's requested bytes, a segment's size; for `oom` the rounded request
  SiteId site = kUnknownSite;  ///< where the block was asked for
  std::uint32_t stream = 0;    ///< of the block or segment
  /// The block's own size in units of 512 bytes; of a segment, and for `oom`, the private pool: see
  /// packed().
  std::uint32_t block_units = 0;
  std::int8_t device = 0;  ///< index of the GPU; -1 for host memory
  EventAction action = EventAction::alloc;
  Category category = Category::other;  ///< of the block; for `relabel` the new one
  bool is_injected = false;             ///< an `oom` that a fault plan wanted, not the device

  static constexpr std::uint64_t kUnitBytes = 512;
  /// What allocated_bytes counts for this block; host blocks are rounded up to a unit here.
  std::uint64_t block_bytes() const { return block_units * kUnitBytes; }
};
static_assert(sizeof(MemoryEvent) == 32);

/// Where allocators write. Like a stream buffer: add() is inline and fills the room that the
/// derived class gave; make_room() is called once it is full. Not thread-safe: allocators that
/// share a sink run in one thread.
class EventSink {
 public:
  EventSink() = default;
  EventSink(const EventSink&) = delete;
  EventSink& operator=(const EventSink&) = delete;
  virtual ~EventSink() = default;

  void add(const MemoryEvent& event) { next_slot() = event; }

  /// Room for the next event, to be filled before anything else is called; what it holds is stale.
  MemoryEvent& next_slot() {
    if (next_ == end_) [[unlikely]]
      make_room();
    return *next_++;
  }

 protected:
  /// Leaves next_ < end_.
  virtual void make_room() = 0;

  MemoryEvent* next_ = nullptr;
  MemoryEvent* end_ = nullptr;
};

/// Keeps events in memory: all of them, or the newest `max_events`.
class EventRecord final : public EventSink {
 public:
  EventRecord() = default;
  /// Bounded. Throws std::invalid_argument for 0.
  explicit EventRecord(std::size_t max_events);

  /// Events kept.
  std::size_t size() const;
  /// Events that a bounded record has overwritten: the logical time of the oldest one kept.
  std::uint64_t dropped() const;
  /// Oldest first; index < size(). Its logical time is dropped() + index.
  const MemoryEvent& operator[](std::size_t index) const;

  void clear();

 protected:
  void make_room() override;

 private:
  static constexpr std::size_t kChunkEvents = 4096;

  /// Memory for events that begin their life when they are written.
  struct FreeChunk {
    std::size_t events;
    void operator()(MemoryEvent* chunk) const;
  };
  using Chunk = std::unique_ptr<MemoryEvent, FreeChunk>;

  static Chunk new_chunk(std::size_t events);
  std::size_t written_in_chunk() const;

  std::optional<std::size_t> max_events_;
  std::vector<Chunk> chunks_;  ///< one of max_events_ when bounded
  std::uint64_t rounds_ = 0;   ///< times that a bounded record was full
};

}  // namespace ohm
