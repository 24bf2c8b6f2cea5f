#include "allocator_shim/replay/history_replay.h"

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "allocator_shim/caching/size_policy.h"
#include "allocator_shim/observe/out_of_memory.h"
#include "allocator_shim/replay/state_comparison.h"

namespace ohm {
namespace {

CachingAllocatorOptions options_of(const DeviceHistory& history, const RuleSet& rules) {
  CachingAllocatorOptions options;
  options.device = history.device;
  options.rules = rules;
  options.settings = history.settings;
  return options;
}

bool is_same(const MemoryEvent& a, const MemoryEvent& b) {
  return a.address == b.address && a.bytes == b.bytes && a.stream == b.stream &&
         a.action == b.action;
}

}  // namespace

// ---- what the allocator did ---------------------------------------------------------------------

HistoryReplay::Observed::Observed() : room_(1024) { clear(); }

std::span<const MemoryEvent> HistoryReplay::Observed::events() const {
  return {room_.data(), static_cast<std::size_t>(next_ - room_.data())};
}

void HistoryReplay::Observed::clear() {
  next_ = room_.data();
  end_ = next_ + room_.size();
}

void HistoryReplay::Observed::make_room() {
  const std::size_t used = room_.size();
  room_.resize(2 * used);
  next_ = room_.data() + used;
  end_ = room_.data() + room_.size();
}

// ---- the state at the start ---------------------------------------------------------------------

HistoryReplay::HistoryReplay(const DeviceHistory& history, const BlockLives& lives,
                             const InitialState& state, const RuleSet& rules)
    : history_(history),
      lives_(lives),
      memory_(state.reservations, state.segments),
      streams_(static_cast<StreamId>(history.lanes.size())),
      allocator_(memory_, streams_, options_of(history, rules), &observed_),
      handles_(lives.lives.size()) {
  allocator_.add_free_memory_callback([this] { return release_given(); });
  for (std::size_t i = 0; i < history.lanes.size(); ++i) {
    if (history.lanes[i].is_private()) allocator_.make_private(static_cast<StreamId>(i));
  }
  restore(state);
  recorded_peaks_ = {state.peak_reserved_bytes, requested_bytes_};
}

void HistoryReplay::restore(const InitialState& state) {
  std::vector<BlockHandle> handles;
  try {
    handles = allocator_.restore(state.segments);
  } catch (const std::invalid_argument& error) {
    throw HistoryError(HistoryError::Kind::inconsistent, error.what());
  }
  for (std::size_t i = 0; i < handles.size(); ++i) {
    const std::uint32_t index = state.allocated[i].life;
    const BlockLife& life = lives_.lives[index];
    requested_bytes_ += life.requested_bytes;
    if (!life.is_pending_at_start) {
      handles_[index] = handles[i];
      continue;
    }
    allocator_.record_stream(handles[i], streams_.stream_of(life.deferral));
    allocator_.free(handles[i]);
    ++pending_;
  }
  allocator_.reset_peak_stats();
  allocator_.reset_accumulated_stats();
  observed_.clear();
}

// ---- one step after the other -------------------------------------------------------------------

void HistoryReplay::run(std::size_t begin, std::size_t end, Mode mode) {
  HistorySteps steps(history_, lives_, begin);
  HistoryStep step;
  while (steps.next(step)) {
    if (step.end > end) return;
    do_step(step, steps);
    if (divergence_ && mode == Mode::stop_at_divergence) return;
  }
  if (!divergence_) compare_final_state();
}

void HistoryReplay::do_step(const HistoryStep& step, const HistorySteps& steps) {
  switch (step.kind) {
    case HistoryStep::Kind::allocate:
      return do_allocate(step, steps);
    case HistoryStep::Kind::free:
      return do_free(step);
    case HistoryStep::Kind::flush:
      return do_flush(step);
    case HistoryStep::Kind::snapshot:
      return do_snapshot(step);
  }
}

void HistoryReplay::do_allocate(HistoryStep step, const HistorySteps& steps) {
  if (step.end - step.begin > 1) {
    const std::size_t flushed = steps.end_of_flush(step);
    if (flushed > step.begin && is_flush(step, flushed)) {
      do_flush({HistoryStep::Kind::flush, step.begin, flushed});
      step.begin = flushed;
    }
  }
  request(step);
  compare(step);
}

void HistoryReplay::request(const HistoryStep& step) {
  const MemoryEvent& asked = history_.events[step.end - 1];
  AllocationRequest request;
  request.bytes = asked.bytes;
  request.stream = asked.stream;

  RecordedRequest recorded;
  recorded.events = {history_.events.data() + step.begin, step.end - step.begin};
  recorded.stream = asked.stream;
  recorded.is_small = round_request(asked.bytes, history_.settings) <= kSmallRequestBytes;
  recorded.is_out_of_memory = asked.action == EventAction::oom;
  memory_.begin(recorded);

  std::uint32_t completed = 0;
  bool waits = false;
  if (step.end - step.begin > 1) {
    completed = completions(step);
    waits = waits_for_streams(step, completed);
    choose_given_releases(step);
  }
  if (!waits) streams_.complete(completed);
  try {
    const Allocation allocation = allocator_.allocate(request);
    if (!recorded.is_out_of_memory) {
      handles_[lives_.life_of[step.end - 1]] = allocation.block;
    } else {
      allocator_.free(allocation.block);  // what followed the failure is in the record
    }
  } catch (const OutOfMemory&) {
    // Its event is compared like all others.
  }
  if (waits) streams_.complete(completed);
  pending_ -= std::min(pending_, completed);
  given_releases_.clear();
}

void HistoryReplay::do_free(const HistoryStep& step) {
  const std::uint32_t index = lives_.life_of[step.begin];
  const BlockLife& life = lives_.lives[index];
  BlockHandle& handle = handles_[index];
  // After a divergence a block may be missing.
  if (handle != nullptr) {
    if (life.deferral != 0) {
      allocator_.record_stream(handle, streams_.stream_of(life.deferral));
      ++pending_;
    }
    allocator_.free(std::exchange(handle, nullptr));
  }
  compare(step);
}

void HistoryReplay::do_flush(const HistoryStep& step) {
  RecordedRequest recorded;
  recorded.events = {history_.events.data() + step.begin, step.end - step.begin};
  memory_.begin(recorded);
  const std::uint32_t completed = completions(step);
  allocator_.empty_cache();
  streams_.complete(completed);
  pending_ -= std::min(pending_, completed);
  choose_given_releases(step);
  release_given();
  given_releases_.clear();
  flushes_.push_back(
      {static_cast<std::uint32_t>(step.begin), static_cast<std::uint32_t>(step.end)});
  ++counts_.flushes;
  compare(step);
}

void HistoryReplay::do_snapshot(const HistoryStep& step) {
  ++counts_.events;
  const MemoryEvent& recorded = history_.events[step.begin];
  MemoryEvent actual = recorded;
  actual.bytes = static_cast<std::size_t>(allocator_.stats().active_bytes[0].current);
  if (recorded.bytes != actual.bytes) {
    diverge({Divergence::What::snapshot, step.begin, step, actual, {}});
  }
}

// ---- what the record implies about a step -------------------------------------------------------

std::uint32_t HistoryReplay::completions(const HistoryStep& step) const {
  const auto begin = history_.events.begin();
  const auto count = std::count_if(
      begin + static_cast<std::ptrdiff_t>(step.begin),
      begin + static_cast<std::ptrdiff_t>(step.end),
      [](const MemoryEvent& event) { return event.action == EventAction::free_completed; });
  return static_cast<std::uint32_t>(count);
}

/// Pending frees complete when a request looks at their streams, first of all, or when it has
/// failed and waits for all of them. The latter explains more: only then can there be cached blocks
/// afterwards that would have served it.
bool HistoryReplay::waits_for_streams(const HistoryStep& step, std::uint32_t completed) const {
  if (completed == 0 || completed != pending_) return false;
  const auto begin = history_.events.begin();
  return history_.events[step.end - 1].action == EventAction::oom ||
         std::any_of(begin + static_cast<std::ptrdiff_t>(step.begin),
                     begin + static_cast<std::ptrdiff_t>(step.end), gives_memory_back);
}

/// Whether what was given back before a request was not given back for it: a cached block would
/// have served it, or the device had room, as later events show.
bool HistoryReplay::is_flush(const HistoryStep& step, std::size_t end_of_flush) {
  const MemoryEvent& asked = history_.events[step.end - 1];
  AllocationRequest request;
  request.bytes = asked.bytes;
  request.stream = asked.stream;
  if (allocator_.can_serve_from_cache(request)) return true;
  const AllocatorSettings& settings = history_.settings;
  if (history_.knows_who_emptied || settings.garbage_collection_threshold > 0 ||
      settings.max_split_size_bytes != AllocatorSettings::kNoMaxSplitSize ||
      completions({step.kind, step.begin, end_of_flush}) > 0) {
    return false;
  }
  const std::size_t wanted = segment_bytes_for(round_request(asked.bytes, settings));
  const auto reserved = static_cast<std::size_t>(allocator_.stats().reserved_bytes[0].current);
  return reserved + wanted <= recorded_peaks_.reserved_bytes;
}

// ---- what is taken as given ---------------------------------------------------------------------

/// Whether the recorded releases of a step are those of all cached segments in their order.
bool HistoryReplay::releases_as_usual(const HistoryStep& step) const {
  std::vector<std::tuple<bool, StreamId, std::size_t, DeviceAddress>> cached;
  for (const SegmentView& segment : allocator_.segments()) {
    const bool is_whole = segment.blocks.size() == 1 && !segment.is_expandable &&
                          segment.blocks.front().state == BlockView::State::inactive;
    if (!is_whole || history_.lanes[segment.stream].is_private()) continue;
    cached.emplace_back(segment.is_small, segment.stream, segment.bytes, segment.address);
  }
  std::sort(cached.begin(), cached.end());
  auto next = cached.begin();
  for (std::size_t i = step.begin; i < step.end; ++i) {
    const MemoryEvent& event = history_.events[i];
    if (event.action != EventAction::segment_free) continue;
    if (next == cached.end() || std::get<3>(*next++) != event.address) return false;
  }
  return next == cached.end();
}

void HistoryReplay::choose_given_releases(const HistoryStep& step) {
  bool may_be_collected = history_.settings.garbage_collection_threshold > 0 &&
                          step.kind == HistoryStep::Kind::allocate;
  bool is_checked = false;
  for (std::size_t i = step.begin; i < step.end; ++i) {
    const MemoryEvent& event = history_.events[i];
    if (event.action != EventAction::segment_free) continue;
    if (may_be_collected && !is_checked) {
      may_be_collected = !releases_as_usual(step);
      is_checked = true;
    }
    // Small segments are not collected; what comes after one was released with it.
    may_be_collected = may_be_collected && event.bytes != kSmallBufferBytes;
    if (may_be_collected || history_.lanes[event.stream].is_private()) {
      given_releases_.push_back(event.address);
    }
  }
}

/// Never asks the allocator to search again: no block came free.
bool HistoryReplay::release_given() {
  for (const DeviceAddress address : given_releases_) {
    if (allocator_.release_cached_segment(address)) ++counts_.given_releases;
  }
  given_releases_.clear();
  return false;
}

// ---- comparing ----------------------------------------------------------------------------------

bool HistoryReplay::is_recorded_action(EventAction action) const {
  if (action == EventAction::free_requested) return lives_.has_free_requested;
  return action != EventAction::free_completed || lives_.has_free_completed;
}

void HistoryReplay::compare(const HistoryStep& step) {
  const std::span<const MemoryEvent> actual = observed_.events();
  std::size_t next = 0;
  const auto skip_unrecorded = [&] {
    while (next < actual.size() && !is_recorded_action(actual[next].action)) ++next;
  };
  for (std::size_t i = step.begin; i < step.end; ++i) {
    skip_unrecorded();
    const MemoryEvent& recorded = history_.events[i];
    const MemoryEvent* const done = next < actual.size() ? &actual[next++] : nullptr;
    count(recorded, done);
    if (done != nullptr && is_same(*done, recorded)) continue;
    const auto instead = done == nullptr ? std::nullopt : std::optional(*done);
    diverge({Divergence::What::event, i, step, instead, {}});
  }
  skip_unrecorded();
  if (next < actual.size()) {
    diverge({Divergence::What::extra, step.end - 1, step, actual[next], {}});
  }
  observed_.clear();
}

void HistoryReplay::count(const MemoryEvent& recorded, const MemoryEvent* actual) {
  ++counts_.events;
  const bool agrees = actual != nullptr && is_same(*actual, recorded);
  switch (recorded.action) {
    case EventAction::alloc:
      ++counts_.allocations;
      if (agrees) ++counts_.allocations_at_recorded_address;
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
      if (agrees) ++counts_.segments_as_recorded;
      break;
    case EventAction::oom:
      ++counts_.ooms;
      break;
    default:
      break;
  }
}

void HistoryReplay::diverge(Divergence divergence) {
  if (!divergence_) divergence_ = std::move(divergence);
}

void HistoryReplay::compare_final_state() {
  const std::string difference =
      first_difference(allocator_.segments(), history_.segments, history_.lanes);
  if (difference.empty()) return;
  Divergence divergence;
  divergence.what = Divergence::What::final_state;
  divergence.event = history_.events.size() - 1;
  divergence.final_state = difference;
  diverge(std::move(divergence));
}

Peaks HistoryReplay::peaks() const {
  const MemoryStats& stats = allocator_.stats();
  return {static_cast<std::size_t>(stats.reserved_bytes[0].peak),
          static_cast<std::size_t>(stats.requested_bytes[0].peak)};
}

}  // namespace ohm
