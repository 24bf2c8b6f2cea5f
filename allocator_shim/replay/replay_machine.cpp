#include "allocator_shim/replay/replay_machine.h"

#include <algorithm>
#include <stdexcept>

#include "allocator_shim/base/size_policy.h"
#include "allocator_shim/observe/out_of_memory.h"

namespace ohm {
namespace {

CachingAllocatorOptions options_of(const DeviceHistory& history, const RuleSet& rules) {
  CachingAllocatorOptions options;
  options.device = history.device;
  options.rules = rules;
  options.settings = history.settings;
  options.settings.garbage_collection_threshold = 0;  // see Note [What is taken as given]
  return options;
}

/// restore() takes no pending blocks. Returns their lives.
std::vector<std::uint32_t> make_pending_allocated(std::vector<SegmentView>& segments) {
  std::vector<std::uint32_t> pending;
  for (SegmentView& segment : segments) {
    for (BlockView& block : segment.blocks) {
      if (block.state != BlockView::State::active_pending_free) continue;
      block.state = BlockView::State::active_allocated;
      pending.push_back(block.site);
    }
  }
  return pending;
}

}  // namespace

// ---- what the allocator did ---------------------------------------------------------------------

ReplayMachine::Observed::Observed() : room_(256) { clear(); }

std::span<const MemoryEvent> ReplayMachine::Observed::events() const {
  return {room_.data(), static_cast<std::size_t>(next_ - room_.data())};
}

void ReplayMachine::Observed::clear() {
  next_ = room_.data();
  end_ = next_ + room_.size();
}

void ReplayMachine::Observed::make_room() {
  const std::size_t used = room_.size();
  room_.resize(2 * used);
  next_ = room_.data() + used;
  end_ = room_.data() + room_.size();
}

// ---- the state at the start ---------------------------------------------------------------------

ReplayMachine::ReplayMachine(const DeviceHistory& history, const BlockLives& lives,
                             const InitialState& state, const RuleSet& rules)
    : history_(history),
      lives_(lives),
      memory_(state.reservations, state.segments),
      streams_(static_cast<StreamId>(history.lanes.size())),
      allocator_(memory_, streams_, options_of(history, rules), &observed_) {
  prepare();
  restore(state.segments, state.oldest_first);
}

ReplayMachine::ReplayMachine(const ReplayMachine& other)
    : history_(other.history_),
      lives_(other.lives_),
      memory_(other.memory_),
      streams_(other.streams_),
      allocator_(memory_, streams_, options_of(other.history_, other.allocator_.rules()),
                 &observed_) {
  prepare();
  std::vector<SegmentView> segments = other.allocator_.segments();
  const std::vector<std::uint32_t> pending = make_pending_allocated(segments);
  restore(segments, other.allocator_.segments_oldest_first());
  auto next = pending.begin();
  for (const auto& [life, block] : initial_blocks_) {
    if (next == pending.end() || life != *next) continue;
    free(block, lives_.lives[life]);
    ++next;
  }
  forget_events();
}

void ReplayMachine::prepare() {
  allocator_.add_free_memory_callback([this] { return release_chosen(); });
  for (std::size_t i = 0; i < history_.lanes.size(); ++i) {
    if (history_.lanes[i].is_private()) allocator_.make_private(static_cast<StreamId>(i));
  }
}

/// The site of a block is its life.
void ReplayMachine::restore(const std::vector<SegmentView>& segments,
                            const std::vector<DeviceAddress>& oldest_first) {
  std::vector<BlockHandle> handles;
  try {
    handles = allocator_.restore(segments, oldest_first);
  } catch (const std::invalid_argument& error) {
    throw HistoryError(HistoryError::Kind::inconsistent, error.what());
  }
  auto handle = handles.begin();
  for (const SegmentView& segment : segments) {
    for (const BlockView& block : segment.blocks) {
      if (block.state == BlockView::State::inactive) continue;
      initial_blocks_.emplace_back(block.site, *handle++);
    }
  }
}

void ReplayMachine::free(BlockHandle block, const BlockLife& life) {
  if (life.deferral != 0) {
    allocator_.record_stream(block, streams_.stream_of(life.deferral));
    ++pending_;
  }
  allocator_.free(block);
}

// ---- requests -----------------------------------------------------------------------------------

BlockHandle ReplayMachine::request(const HistoryStep& step, const RequestCause& cause) {
  const MemoryEvent& asked = history_.events[step.end - 1];
  AllocationRequest request;
  request.bytes = asked.bytes;
  request.stream = asked.stream;
  request.site = lives_.life_of[step.end - 1];

  RecordedRequest recorded;
  recorded.events = {history_.events.data() + step.begin, step.end - step.begin};
  recorded.stream = asked.stream;
  recorded.is_small = round_request(asked.bytes, history_.settings) <= kSmallRequestBytes;
  recorded.is_out_of_memory = asked.action == EventAction::oom;
  memory_.begin(recorded);

  std::uint32_t waited = 0;
  if (step.end - step.begin > 1) {
    waited = completions(step) - cause.polled;
    choose_releases(step, cause);
    complete(cause.polled);
  }
  if (cause.is_limited) allocator_.set_memory_limit(limit_for(recorded, asked.bytes));
  BlockHandle block = nullptr;
  try {
    block = allocator_.allocate(request).block;
  } catch (const OutOfMemory&) {
    // Its event is compared like all others.
  }
  if (cause.is_limited) allocator_.set_memory_limit(std::nullopt);
  complete(waited);
  chosen_releases_.clear();
  return block;
}

/// A limit that refuses the request until something was given back, or for good.
std::size_t ReplayMachine::limit_for(const RecordedRequest& request, std::size_t bytes) const {
  if (request.is_out_of_memory) return 0;
  const std::size_t wanted = segment_bytes_for(round_request(bytes, history_.settings));
  return static_cast<std::size_t>(allocator_.stats().reserved_bytes[0].current) + wanted - 1;
}

void ReplayMachine::flush(const HistoryStep& step) {
  RecordedRequest recorded;
  recorded.events = {history_.events.data() + step.begin, step.end - step.begin};
  memory_.begin(recorded);
  allocator_.empty_cache();
  complete(completions(step));
  choose_releases(step, {});
  release_chosen();
}

std::uint32_t ReplayMachine::completions(const HistoryStep& step) const {
  const auto begin = history_.events.begin();
  const auto count = std::count_if(
      begin + static_cast<std::ptrdiff_t>(step.begin),
      begin + static_cast<std::ptrdiff_t>(step.end),
      [](const MemoryEvent& event) { return event.action == EventAction::free_completed; });
  return static_cast<std::uint32_t>(count);
}

void ReplayMachine::complete(std::uint32_t count) {
  streams_.complete(count);
  pending_ -= std::min(pending_, count);
}

// ---- what is taken as given ---------------------------------------------------------------------

/// The garbage collection comes before a request waits for streams, and leaves small segments
/// alone.
void ReplayMachine::choose_releases(const HistoryStep& step, const RequestCause& cause) {
  bool may_be_collected = cause.takes_collected;
  for (std::size_t i = step.begin; i < step.end; ++i) {
    const MemoryEvent& event = history_.events[i];
    if (event.action == EventAction::free_completed) {
      may_be_collected = may_be_collected && i < step.begin + cause.polled;
    }
    if (event.action != EventAction::segment_free) continue;
    may_be_collected = may_be_collected && event.bytes != kSmallBufferBytes;
    if (may_be_collected || history_.lanes[event.stream].is_private()) {
      chosen_releases_.push_back(event.address);
    }
  }
}

/// Never asks the allocator to search again: no block came free.
bool ReplayMachine::release_chosen() {
  for (const DeviceAddress address : chosen_releases_) {
    if (allocator_.release_cached_segment(address)) ++given_releases_;
  }
  chosen_releases_.clear();
  return false;
}

}  // namespace ohm
