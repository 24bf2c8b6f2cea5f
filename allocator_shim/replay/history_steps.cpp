#include "allocator_shim/replay/history_steps.h"

namespace ohm {

std::size_t end_of_releases(const DeviceHistory& history, const HistoryStep& step) {
  std::size_t end = step.end;
  while (end > step.begin && !gives_memory_back(history.events[end - 1])) --end;
  return end;
}

void HistorySteps::find_group(HistoryStep& step) const {
  using Kind = HistoryStep::Kind;
  const std::vector<MemoryEvent>& events = history_.events;
  if (is_free(step.begin)) {
    step.kind = Kind::free;
    return;
  }
  const auto ends = [&](std::size_t i) {
    return i == events.size() || is_free(i) || events[i].action == EventAction::snapshot ||
           events[i].is_injected;
  };
  const auto is_request = [&](std::size_t i) {
    return events[i].action == EventAction::alloc || events[i].action == EventAction::oom;
  };
  std::size_t last = step.begin;
  while (!ends(last) && !is_request(last)) ++last;
  if (ends(last)) {
    step.kind = Kind::flush;
    step.end = last;
    return;
  }
  step.kind = Kind::allocate;
  step.end = last + 1;

  const std::size_t flushed = end_of_releases(history_, step);
  if (flushed == step.begin) return;
  const auto obtained =
      std::find_if(events.begin() + static_cast<std::ptrdiff_t>(flushed),
                   events.begin() + static_cast<std::ptrdiff_t>(step.end), obtains_memory);
  // An expandable segment may serve a request that failed before with memory that it has.
  const bool is_served_from_cache =
      events[last].action == EventAction::alloc && !history_.settings.expandable_segments &&
      obtained == events.begin() + static_cast<std::ptrdiff_t>(step.end);
  const auto emptied =
      std::upper_bound(history_.emptied.begin(), history_.emptied.end(), flushed - 1);
  const bool was_emptied = emptied != history_.emptied.begin() && *std::prev(emptied) >= step.begin;
  if (!is_served_from_cache && !was_emptied) return;
  step.kind = Kind::flush;
  step.end = is_served_from_cache ? flushed : *std::prev(emptied) + std::size_t{1};
}

}  // namespace ohm
