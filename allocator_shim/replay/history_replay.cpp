#include "allocator_shim/replay/history_replay.h"

#include <algorithm>
#include <utility>

#include "allocator_shim/base/size_policy.h"
#include "allocator_shim/replay/state_comparison.h"

namespace ohm {
namespace {

bool is_same(const MemoryEvent& a, const MemoryEvent& b) {
  return a.address == b.address && a.bytes == b.bytes && a.stream == b.stream &&
         a.action == b.action;
}

}  // namespace

HistoryReplay::HistoryReplay(const DeviceHistory& history, const BlockLives& lives,
                             const InitialState& state, const RuleSet& rules)
    : history_(history),
      lives_(lives),
      machine_(history, lives, state, rules),
      handles_(lives.lives.size()) {
  for (const auto& [index, handle] : machine_.initial_blocks()) {
    const BlockLife& life = lives.lives[index];
    requested_bytes_ += life.requested_bytes;
    if (life.is_pending_at_start) {
      machine_.free(handle, life);
    } else {
      handles_[index] = handle;
    }
  }
  machine_.allocator().reset_peak_stats();
  machine_.allocator().reset_accumulated_stats();
  machine_.forget_events();
  recorded_peaks_ = {state.peak_reserved_bytes, requested_bytes_};
}

// ---- one step after the other -------------------------------------------------------------------

void HistoryReplay::run(std::size_t begin, std::size_t end, Mode mode) {
  HistorySteps steps(history_, lives_, begin);
  HistoryStep step;
  while (steps.next(step)) {
    if (step.end > end) return;
    do_step(step);
    if (divergence_ && mode == Mode::stop_at_divergence) return;
  }
  if (!divergence_) compare_final_state();
}

void HistoryReplay::do_step(const HistoryStep& step) {
  switch (step.kind) {
    case HistoryStep::Kind::allocate:
      return do_request(step);
    case HistoryStep::Kind::free:
      return do_free(step);
    case HistoryStep::Kind::flush:
      return do_flush(step);
    case HistoryStep::Kind::snapshot:
      return do_snapshot(step);
    case HistoryStep::Kind::refusal:
      ++counts_.events;
      ++counts_.ooms;
      return;
  }
}

void HistoryReplay::do_request(const HistoryStep& step) {
  RequestCause cause;
  const bool is_plain =
      step.end - step.begin == 1 && history_.events[step.begin].action == EventAction::alloc;
  if (!is_plain) cause = cause_of(step);
  if (cause.flushed_up_to != 0) {
    ++counts_.flushes;
    flushes_.push_back(
        {static_cast<std::uint32_t>(step.begin), static_cast<std::uint32_t>(cause.flushed_up_to)});
  } else if (!cause.takes_collected && end_of_releases(history_, step) > step.begin) {
    ++counts_.retries;
  }
  BlockHandle block = request(machine_, step, cause);
  const std::uint32_t life = lives_.life_of[step.end - 1];
  if (life != kNever) {
    handles_[life] = block;
  } else {
    machine_.allocator().free(block);  // recorded as out of memory: the program has no such block
  }
  compare(step);
}

void HistoryReplay::do_free(const HistoryStep& step) {
  const std::uint32_t life = lives_.life_of[step.begin];
  // After a divergence a block may be missing.
  if (handles_[life] != nullptr) {
    machine_.free(std::exchange(handles_[life], nullptr), lives_.lives[life]);
  }
  compare(step);
}

void HistoryReplay::do_flush(const HistoryStep& step) {
  machine_.flush(step);
  ++counts_.flushes;
  flushes_.push_back(
      {static_cast<std::uint32_t>(step.begin), static_cast<std::uint32_t>(step.end)});
  compare(step);
}

void HistoryReplay::do_snapshot(const HistoryStep& step) {
  ++counts_.events;
  const MemoryEvent& recorded = history_.events[step.begin];
  MemoryEvent actual = recorded;
  actual.bytes = static_cast<std::size_t>(allocator().stats().active_bytes[0].current);
  if (recorded.bytes != actual.bytes) {
    diverge({Divergence::What::snapshot, step.begin, step, actual, {}});
  }
}

// ---- what made a request do what it did ---------------------------------------------------------

namespace {

/// What frees and releases a step shows.
struct FreedWithin {
  std::uint32_t leading = 0;  ///< completions, before anything else
  std::uint32_t later = 0;
  bool has_releases = false;
  bool has_large_releases = false;
};

FreedWithin freed_within(const DeviceHistory& history, const HistoryStep& step) {
  FreedWithin freed;
  for (std::size_t i = step.begin; i < step.end; ++i) {
    const MemoryEvent& event = history.events[i];
    if (event.action == EventAction::free_completed) {
      ++(freed.has_releases ? freed.later : freed.leading);
    } else if (gives_memory_back(event)) {
      freed.has_releases = true;
      freed.has_large_releases |=
          event.action == EventAction::segment_free && event.bytes != kSmallBufferBytes;
    }
  }
  return freed;
}

}  // namespace

/// What is possible, the likelier first.
std::vector<RequestCause> HistoryReplay::causes_of(const HistoryStep& step) const {
  const auto [leading, later, has_releases, has_large_releases] = freed_within(history_, step);
  // A request that waited has waited for everything.
  const bool may_have_waited = leading > 0 && later == 0 && leading == machine_.pending();
  const bool may_have_collected =
      has_large_releases && history_.settings.garbage_collection_threshold > 0;
  const std::size_t flushed = has_releases ? end_of_releases(history_, step) : 0;

  const bool is_oom = history_.events[step.end - 1].action == EventAction::oom;
  const bool may_be_limited = history_.settings.expandable_segments && (has_releases || is_oom);

  std::vector<RequestCause> causes;
  const auto add = [&](const RequestCause& cause) {
    causes.push_back(cause);
    if (!may_have_waited) return;
    causes.push_back(cause);
    causes.back().polled = 0;
  };
  const bool was_likely_flushed = has_releases && device_had_room(step);
  const RequestCause flush = {.flushed_up_to = flushed};
  if (was_likely_flushed) causes.push_back(flush);
  add({.polled = leading});
  if (has_releases && !was_likely_flushed) causes.push_back(flush);
  if (may_be_limited) add({.polled = leading, .is_limited = true});
  if (may_have_collected) add({.polled = leading, .takes_collected = true});
  if (may_have_collected && may_be_limited) {
    add({.polled = leading, .takes_collected = true, .is_limited = true});
  }
  return causes;
}

/// Whether the device could have served a request without giving anything back, as later events
/// show, and no stack says why it was given back.
bool HistoryReplay::device_had_room(const HistoryStep& step) const {
  if (history_.knows_who_emptied) return false;
  const std::size_t wanted =
      segment_bytes_for(round_request(history_.events[step.end - 1].bytes, history_.settings));
  const auto reserved = static_cast<std::size_t>(allocator().stats().reserved_bytes[0].current);
  return reserved + wanted <= recorded_peaks_.reserved_bytes;
}

/// The first cause that leads to the recorded events; tried on a copy of the machine.
RequestCause HistoryReplay::cause_of(const HistoryStep& step) const {
  const std::vector<RequestCause> causes = causes_of(step);
  if (causes.size() > 1 && !divergence_) {
    for (const RequestCause& cause : causes) {
      ReplayMachine trial(machine_);
      request(trial, step, cause);
      if (!trial.is_contradicted() && !difference(trial.events(), step)) return cause;
    }
  }
  return causes.front();
}

BlockHandle HistoryReplay::request(ReplayMachine& machine, const HistoryStep& step,
                                   const RequestCause& cause) const {
  if (cause.flushed_up_to == 0) return machine.request(step, cause);
  machine.flush({HistoryStep::Kind::flush, step.begin, cause.flushed_up_to});
  return machine.request({step.kind, cause.flushed_up_to, step.end}, {});
}

// ---- comparing ----------------------------------------------------------------------------------

bool HistoryReplay::is_recorded_action(EventAction action) const {
  if (action == EventAction::free_requested) return lives_.has_free_requested;
  return action != EventAction::free_completed || lives_.has_free_completed;
}

std::optional<Divergence> HistoryReplay::difference(std::span<const MemoryEvent> actual,
                                                    const HistoryStep& step) const {
  using What = Divergence::What;
  auto next = actual.begin();
  const auto skip_unrecorded = [&] {
    while (next != actual.end() && !is_recorded_action(next->action)) ++next;
  };
  for (std::size_t i = step.begin; i < step.end; ++i) {
    skip_unrecorded();
    if (next == actual.end()) return Divergence{What::event, i, step, std::nullopt, {}};
    if (!is_same(*next, history_.events[i])) return Divergence{What::event, i, step, *next, {}};
    ++next;
  }
  skip_unrecorded();
  if (next == actual.end()) return std::nullopt;
  return Divergence{What::extra, step.end - 1, step, *next, {}};
}

void HistoryReplay::compare(const HistoryStep& step) {
  for (std::size_t i = step.begin; i < step.end; ++i) count(history_.events[i]);
  count_agreement(step);
  if (!divergence_) divergence_ = difference(machine_.events(), step);
  machine_.forget_events();
}

void HistoryReplay::count(const MemoryEvent& recorded) {
  ++counts_.events;
  switch (recorded.action) {
    case EventAction::alloc:
      ++counts_.allocations;
      requested_bytes_ += recorded.bytes;
      recorded_peaks_.requested_bytes = std::max(recorded_peaks_.requested_bytes, requested_bytes_);
      break;
    case EventAction::free_requested:
      ++counts_.frees;
      if (!lives_.has_free_completed) requested_bytes_ -= recorded.bytes;
      break;
    case EventAction::free_completed:
      if (!lives_.has_free_requested) ++counts_.frees;
      requested_bytes_ -= recorded.bytes;
      break;
    case EventAction::segment_alloc:
    case EventAction::segment_map:
      ++counts_.segments;
      break;
    case EventAction::oom:
      ++counts_.ooms;
      break;
    default:
      break;
  }
}

/// Blocks and segments that came to lie where they were recorded, whatever else differs.
void HistoryReplay::count_agreement(const HistoryStep& step) {
  const auto has_done = [&](const MemoryEvent& recorded) {
    const std::span<const MemoryEvent> actual = machine_.events();
    return std::any_of(actual.begin(), actual.end(),
                       [&](const MemoryEvent& event) { return is_same(event, recorded); });
  };
  if (step.kind != HistoryStep::Kind::allocate) return;
  for (std::size_t i = step.begin; i < step.end; ++i) {
    const MemoryEvent& recorded = history_.events[i];
    if (recorded.action == EventAction::alloc) {
      if (has_done(recorded)) ++counts_.allocations_at_recorded_address;
    } else if (obtains_memory(recorded)) {
      if (has_done(recorded)) ++counts_.segments_as_recorded;
    }
  }
}

void HistoryReplay::diverge(Divergence divergence) {
  if (!divergence_) divergence_ = std::move(divergence);
}

/// Names the last event that was about what differs.
void HistoryReplay::compare_final_state() {
  const auto difference =
      first_difference(allocator().segments(), history_.segments, history_.lanes);
  if (!difference) return;
  Divergence divergence;
  divergence.what = Divergence::What::final_state;
  divergence.event = history_.events.size();
  for (std::size_t i = 0; i < history_.events.size(); ++i) {
    if (history_.events[i].address == difference->address) divergence.event = i;
  }
  divergence.final_state = difference->text;
  diverge(std::move(divergence));
}

Peaks HistoryReplay::peaks() const {
  const MemoryStats& stats = allocator().stats();
  return {static_cast<std::size_t>(stats.reserved_bytes[0].peak),
          static_cast<std::size_t>(stats.requested_bytes[0].peak)};
}

}  // namespace ohm
