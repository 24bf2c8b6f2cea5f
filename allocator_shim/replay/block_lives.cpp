#include "allocator_shim/replay/block_lives.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "allocator_shim/base/assert.h"
#include "allocator_shim/base/size_policy.h"

namespace ohm {
namespace {

/// Addresses and what was last known about each: a hash table with open addressing that only
/// grows, since a program's blocks come to lie at the same addresses again and again.
class AddressTable {
 public:
  struct Entry {
    DeviceAddress address = 0;
    std::uint32_t life = kNever;  ///< kNever: the entry is free
    bool is_live = false;         ///< allocated or pending
  };

  explicit AddressTable(std::size_t expected) : entries_(std::bit_ceil(2 * expected + 16)) {}

  /// The entry of this address, made when it is new.
  Entry& at(DeviceAddress address) {
    if (2 * (used_ + 1) > entries_.size()) grow();
    Entry& entry = place_of(address);
    if (entry.life == kNever && entry.address != address) {
      entry.address = address;
      ++used_;
    }
    return entry;
  }

 private:
  Entry& place_of(DeviceAddress address) {
    const std::size_t mask = entries_.size() - 1;
    // Fibonacci hashing: blocks differ in the upper bits of their multiples of 512.
    std::size_t i = (address >> 9U) * 0x9E3779B97F4A7C15U >> 20U & mask;
    while (entries_[i].address != address && entries_[i].address != 0) i = (i + 1) & mask;
    return entries_[i];
  }

  void grow() {
    std::vector<Entry> old(entries_.size() * 2);
    old.swap(entries_);
    for (const Entry& entry : old) {
      if (entry.address != 0) place_of(entry.address) = entry;
    }
  }

  std::vector<Entry> entries_;
  std::size_t used_ = 0;
};

class Pairing {
 public:
  Pairing(const DeviceHistory& history, const Assumptions& assumptions)
      : history_(history),
        assumptions_(assumptions),
        first_(assumptions.first_event),
        table_(history.events.size() / 16) {}

  BlockLives run() {
    const std::vector<MemoryEvent>& events = history_.events;
    if (events.size() >= kNever) {
      throw HistoryError(HistoryError::Kind::insufficient, "more events than can be counted");
    }
    find_actions();
    found_.life_of.assign(events.size(), kNever);
    found_.lives.reserve(events.size() / 3 + 16);
    for (std::size_t i = first_; i < events.size(); ++i) take(static_cast<std::uint32_t>(i));
    take_segments_at_end();
    check_ends();
    number_deferrals();
    sort_before();
    return std::move(found_);
  }

 private:
  [[noreturn]] void refuse(std::uint32_t event, const std::string& why) const {
    throw HistoryError(HistoryError::Kind::inconsistent, why, event);
  }

  static std::string describe(const BlockLife& life) {
    if (life.began_before()) return "allocated before the record begins";
    return fmt::format("allocated by event {}", life.allocated_at);
  }

  void find_actions() {
    bool requested = false;
    bool completed = false;
    bool allocated = false;
    for (std::size_t i = first_; i < history_.events.size(); ++i) {
      const EventAction action = history_.events[i].action;
      requested = requested || action == EventAction::free_requested;
      completed = completed || action == EventAction::free_completed;
      allocated = allocated || action == EventAction::alloc;
    }
    if (!allocated && (requested || completed)) {
      throw HistoryError(HistoryError::Kind::insufficient,
                         "blocks are freed but none is allocated: the history was recorded without "
                         "the action alloc, or with a ring buffer too small for one request");
    }
    // A history in which nothing was freed has both, as far as the history tells. Where nothing has
    // completed, everything that was freed may still be pending.
    found_.has_free_requested = requested || !completed;
    found_.has_free_completed = completed || !requested || has_pending_at_end();
  }

  bool has_pending_at_end() const {
    for (const SegmentView& segment : history_.segments) {
      for (const BlockView& block : segment.blocks) {
        if (block.state == BlockView::State::active_pending_free) return true;
      }
    }
    return false;
  }

  void take(std::uint32_t index) {
    const MemoryEvent& event = history_.events[index];
    switch (event.action) {
      case EventAction::alloc:
        return take_alloc(index, event);
      case EventAction::free_requested:
        return take_free_requested(index, event);
      case EventAction::free_completed:
        return take_free_completed(index, event);
      case EventAction::segment_alloc:
      case EventAction::segment_free:
      case EventAction::segment_map:
      case EventAction::segment_unmap:
        check_size(index, event);
        check_segment(index, event);
        found_.segment_events.push_back(index);
        return;
      case EventAction::oom:
        check_request(index, event);
        return;
      case EventAction::snapshot:
        return;
      case EventAction::relabel:
        refuse(index, "the action relabel is not one of PyTorch's");
    }
  }

  void check_size(std::uint32_t index, const MemoryEvent& event) const {
    if (event.address == 0 || event.address % kMinBlockBytes != 0 ||
        event.address >= kAddressLimit) {
      refuse(index, fmt::format("no block begins at {:#x}", event.address));
    }
    if (event.bytes == 0 || event.bytes >= kAddressLimit) {
      refuse(index, fmt::format("{} bytes are not a size", event.bytes));
    }
  }
  void check_segment(std::uint32_t index, const MemoryEvent& event) const {
    if (event.bytes % kSegmentRoundingBytes != 0) {
      refuse(index, fmt::format("{} bytes are not the size of a segment", event.bytes));
    }
  }
  void check_request(std::uint32_t index, const MemoryEvent& event) const {
    if (event.bytes == 0 || event.bytes >= kAddressLimit || event.bytes % kMinBlockBytes != 0) {
      refuse(index, fmt::format("{} bytes are not a rounded request", event.bytes));
    }
  }

  std::uint32_t new_life(const MemoryEvent& event) {
    BlockLife& life = found_.lives.emplace_back();
    life.address = event.address;
    life.requested_bytes = event.bytes;
    life.stream = event.stream;
    return static_cast<std::uint32_t>(found_.lives.size() - 1);
  }

  void take_alloc(std::uint32_t index, const MemoryEvent& event) {
    check_size(index, event);
    AddressTable::Entry& entry = table_.at(event.address);
    if (entry.is_live) {
      refuse(index, fmt::format("{:#x} is allocated again: the block there, {}, was not freed",
                                event.address, describe(found_.lives[entry.life])));
    }
    entry.life = new_life(event);
    entry.is_live = true;
    found_.lives[entry.life].allocated_at = index;
    found_.life_of[index] = entry.life;
  }

  /// The life of a block that is freed now; one from before the history when nothing was known of
  /// this address so far.
  AddressTable::Entry& freed(std::uint32_t index, const MemoryEvent& event) {
    check_size(index, event);
    AddressTable::Entry& entry = table_.at(event.address);
    if (entry.life == kNever) {
      entry.life = new_life(event);
      entry.is_live = true;
    } else if (!entry.is_live) {
      refuse(index,
             fmt::format("{:#x} is freed, but no block is there: event {} freed the last one",
                         event.address, found_.lives[entry.life].completed_at));
    }
    found_.life_of[index] = entry.life;
    return entry;
  }

  void take_free_requested(std::uint32_t index, const MemoryEvent& event) {
    AddressTable::Entry& entry = freed(index, event);
    BlockLife& life = found_.lives[entry.life];
    if (life.freed_at != kNever || life.is_pending_at_start) {
      refuse(index, fmt::format("{:#x} is freed a second time", event.address));
    }
    life.freed_at = index;
    if (found_.has_free_completed) return;
    life.completed_at = index;
    entry.is_live = false;
  }

  void take_free_completed(std::uint32_t index, const MemoryEvent& event) {
    const bool is_known = table_.at(event.address).life != kNever;
    AddressTable::Entry& entry = freed(index, event);
    BlockLife& life = found_.lives[entry.life];
    if (!is_known) {
      life.is_pending_at_start = found_.has_free_requested;
    } else if (life.freed_at == kNever && found_.has_free_requested) {
      refuse(index,
             fmt::format("the free of {:#x} completes, but was not requested", event.address));
    }
    if (!found_.has_free_requested) life.freed_at = index;
    life.completed_at = index;
    entry.is_live = false;
  }

  // ---- the segments at the end

  void take_segments_at_end() {
    for (const SegmentView& segment : history_.segments) {
      for (const BlockView& block : segment.blocks) {
        if (block.state != BlockView::State::inactive) take_active(block, segment.stream);
      }
    }
  }

  void take_active(const BlockView& block, StreamId stream) {
    AddressTable::Entry& entry = table_.at(block.address);
    const bool is_pending = block.state == BlockView::State::active_pending_free;
    if (entry.life == kNever) {
      MemoryEvent made;
      made.address = block.address;
      made.bytes = block.requested_bytes;
      made.stream = stream;
      entry.life = new_life(made);
      entry.is_live = true;
      found_.lives[entry.life].is_pending_at_start = is_pending;
    }
    BlockLife& life = found_.lives[entry.life];
    if (!entry.is_live) {
      refuse(life.completed_at, fmt::format("{:#x} is freed, but is {} in the segments at the end",
                                            block.address, name_of(block.state)));
    }
    const bool was_freed = life.freed_at != kNever || life.is_pending_at_start;
    if (was_freed != is_pending) {
      refuse(
          was_freed ? life.freed_at : life.allocated_at,
          fmt::format("the block {:#x} is {} in the segments at the end, which it cannot be after "
                      "this event",
                      block.address, name_of(block.state)));
    }
    life.bytes = block.bytes;
    ++seen_at_end_;
  }

  void check_ends() const {
    std::size_t live = 0;
    for (const BlockLife& life : found_.lives) live += life.completed_at == kNever ? 1 : 0;
    if (live == seen_at_end_) return;
    for (const BlockLife& life : found_.lives) {
      if (life.completed_at != kNever || life.bytes != 0) continue;
      const std::uint32_t last = life.freed_at != kNever ? life.freed_at : life.allocated_at;
      refuse(last,
             fmt::format("{:#x} is not given back by a later event, but no block in use begins "
                         "there in the segments at the end",
                         life.address));
    }
  }

  // ---- order

  void number_deferrals() {
    std::uint32_t deferrals = 0;
    for (std::size_t i = first_; i < history_.events.size(); ++i) {
      if (history_.events[i].action != EventAction::free_completed) continue;
      BlockLife& life = found_.lives[found_.life_of[i]];
      const bool follows = !life.is_pending_at_start && life.freed_at + 1 >= i;
      const bool was_waited_for = assumptions_.waited_for.count(static_cast<std::uint32_t>(i)) != 0;
      if (!follows || was_waited_for) life.deferral = ++deferrals;
    }
    for (BlockLife& life : found_.lives) {
      const bool was_freed = life.freed_at != kNever || life.is_pending_at_start;
      if (was_freed && life.completed_at == kNever) life.deferral = ++deferrals;
    }
  }

  void sort_before() {
    for (std::uint32_t i = 0; i < found_.lives.size(); ++i) {
      if (found_.lives[i].began_before()) found_.before.push_back(i);
    }
    std::sort(found_.before.begin(), found_.before.end(), [&](std::uint32_t a, std::uint32_t b) {
      return found_.lives[a].address < found_.lives[b].address;
    });
  }

  const DeviceHistory& history_;
  const Assumptions& assumptions_;
  std::size_t first_;
  AddressTable table_;
  BlockLives found_;
  std::size_t seen_at_end_ = 0;
};

}  // namespace

BlockLives find_block_lives(const DeviceHistory& history, const Assumptions& assumptions) {
  return Pairing(history, assumptions).run();
}

}  // namespace ohm
