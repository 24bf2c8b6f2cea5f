// The events of a history, cut into what a program did: one request, one free, one call of
// empty_cache(), with everything that the allocator did on account of it.
//
// A request's own event is the last one of its step: completions of pending frees, and segments
// given back and obtained, come before it. Completions and segments given back that no request
// follows are a call of empty_cache(), and so are those that no request can have caused: it was
// served from the cache afterwards, or the stack says so.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "allocator_shim/replay/block_lives.h"
#include "allocator_shim/replay/device_history.h"

namespace ohm {

struct HistoryStep {
  enum class Kind : std::uint8_t {
    allocate,  ///< or tried to: the last event is `alloc` or `oom`
    free,
    flush,     ///< empty_cache()
    snapshot,  ///< nothing but the event
    refusal    ///< an `oom` that was injected before the allocator was asked: nothing but the event
  };
  Kind kind = Kind::allocate;
  std::size_t begin = 0;
  std::size_t end = 0;
};

inline bool obtains_memory(const MemoryEvent& event) {
  return event.action == EventAction::segment_alloc || event.action == EventAction::segment_map;
}
inline bool gives_memory_back(const MemoryEvent& event) {
  return event.action == EventAction::segment_free || event.action == EventAction::segment_unmap;
}

/// One past the last event of the step that gives memory back; `step.begin` when there is none.
std::size_t end_of_releases(const DeviceHistory& history, const HistoryStep& step);

class HistorySteps {
 public:
  /// Both outlive this.
  HistorySteps(const DeviceHistory& history, const BlockLives& lives, std::size_t begin)
      : history_(history), lives_(lives), position_(begin) {}

  /// False at the end.
  bool next(HistoryStep& step) {
    const std::vector<MemoryEvent>& events = history_.events;
    if (position_ == events.size()) return false;
    step.begin = position_;
    step.end = position_ + 1;
    switch (events[position_].action) {
      case EventAction::alloc:
        step.kind = HistoryStep::Kind::allocate;
        break;
      case EventAction::snapshot:
        step.kind = HistoryStep::Kind::snapshot;
        break;
      case EventAction::free_requested:
        step.kind = HistoryStep::Kind::free;
        if (completes_at_once(position_)) ++step.end;
        break;
      default:
        if (events[position_].is_injected) {
          step.kind = HistoryStep::Kind::refusal;
        } else {
          find_group(step);
        }
    }
    position_ = step.end;
    return true;
  }

 private:
  bool completes_at_once(std::size_t request) const {
    const BlockLife& life = lives_.lives[lives_.life_of[request]];
    return life.completed_at == request + 1 && life.deferral == 0;
  }
  bool is_free(std::size_t index) const {
    const EventAction action = history_.events[index].action;
    if (action == EventAction::free_requested) return true;
    return action == EventAction::free_completed && !lives_.has_free_requested;
  }

  void find_group(HistoryStep& step) const;

  const DeviceHistory& history_;
  const BlockLives& lives_;
  std::size_t position_;
};

}  // namespace ohm
