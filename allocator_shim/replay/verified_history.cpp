#include "allocator_shim/replay/verified_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "allocator_shim/base/size_policy.h"

namespace ohm {
namespace {

using StepKind = HistoryStep::Kind;

/// Replays cost what their events cost: sizes are narrowed down for as long as this lasts.
constexpr std::size_t kMostReplayedEvents = 100'000'000;
constexpr std::size_t kMostReplays = 2000;

/// The free blocks of so many bytes in the pool of the one at `address`, by where they lie, itself
/// among them; none where that is not one of them.
std::vector<DeviceAddress> free_blocks_beside(const CachingAllocator& allocator,
                                              DeviceAddress address, std::size_t bytes) {
  using Pool = std::pair<StreamId, bool>;
  std::map<Pool, std::vector<DeviceAddress>> blocks;
  std::optional<Pool> home;
  for (const SegmentView& segment : allocator.segments()) {
    const Pool pool(segment.stream, segment.is_small);
    for (const BlockView& block : segment.blocks) {
      if (block.state != BlockView::State::inactive || block.bytes != bytes) continue;
      blocks[pool].push_back(block.address);
      if (block.address == address) home = pool;
    }
  }
  return home ? blocks[*home] : std::vector<DeviceAddress>();
}

/// The free block that the allocator cut `address` from, in bytes, after it did.
std::size_t bytes_before_cut(const CachingAllocator& allocator, DeviceAddress address) {
  for (const SegmentView& segment : allocator.segments()) {
    if (address < segment.address || address >= segment.address + segment.bytes) continue;
    for (std::size_t i = 0; i < segment.blocks.size(); ++i) {
      if (segment.blocks[i].address != address) continue;
      const bool has_rest = i + 1 < segment.blocks.size() &&
                            segment.blocks[i + 1].state == BlockView::State::inactive;
      return segment.blocks[i].bytes + (has_rest ? segment.blocks[i + 1].bytes : 0);
    }
  }
  return 0;
}

}  // namespace

VerifiedHistory::VerifiedHistory(DeviceHistory history, const RuleSet& rules)
    : history_(std::move(history)), rules_(rules) {
  replay_or_disagree();
  if (disagreement_ && rules_.orders_blocks_by_segment) try_order_of_addresses();
}

/// A record does not say which version made it; most were made by one before 2.15.
void VerifiedHistory::try_order_of_addresses() {
  RuleSet earlier = rules_;
  earlier.orders_blocks_by_segment = false;
  VerifiedHistory by_address(history_, earlier);
  const auto reach = [](const Disagreement& disagreement) {
    return disagreement.event.value_or(0);
  };
  if (by_address.disagreement_ && reach(*by_address.disagreement_) <= reach(*disagreement_)) return;
  by_address.history_.notes.emplace_back(
      "blocks of one size were taken in the order of their addresses, as before PyTorch 2.15");
  *this = std::move(by_address);
}

void VerifiedHistory::replay_or_disagree() {
  try {
    replay();
  } catch (const HistoryError& error) {
    if (error.kind() == HistoryError::Kind::insufficient) throw;
    Disagreement disagreement;
    disagreement.event = error.event();
    disagreement.summary = error.event() ? fmt::format("event {}: {}", *error.event(), error.what())
                                         : std::string(error.what());
    disagreement_ = std::move(disagreement);
  }
}

void VerifiedHistory::replay() {
  if (!history_.contradiction.empty()) {
    throw HistoryError(HistoryError::Kind::inconsistent, history_.contradiction);
  }
  find_beginning();
  const std::optional<Divergence> divergence = first_divergence();
  if (!divergence) return;
  explain_divergence(*divergence);
  HistoryReplay whole(history_, lives_, state_, rules_);
  whole.run(first_event(), history_.events.size(), HistoryReplay::Mode::go_on);
  summarize(whole);
}

/// A ring buffer may have lost the first half of a free: what is left of it says nothing.
void VerifiedHistory::find_beginning() {
  find_state();
  if (history_.events.empty() || history_.events[0].action != EventAction::free_completed) return;
  if (!lives_.has_free_requested) return;
  assumptions_.first_event = 1;
  find_state();
}

void VerifiedHistory::find_state() {
  lives_ = find_block_lives(history_, assumptions_);
  state_ = find_initial_state(history_, lives_, assumptions_);
  if (order_.is_unknown()) return;
  state_.oldest_first = order_.oldest_first(state_.segments).value_or(std::vector<DeviceAddress>());
}

/// With what is assumed; open blocks are narrowed down and segments ordered on the way.
std::optional<Divergence> VerifiedHistory::replay_once() {
  while (true) {
    HistoryReplay replay(history_, lives_, state_, rules_);
    replay.run(first_event(), history_.events.size(), HistoryReplay::Mode::stop_at_divergence);
    if (!replay.divergence()) {
      summarize(replay);
      return std::nullopt;
    }
    replayed_events_ += replay.divergence()->event;
    const bool may_go_on = ++replays_ < kMostReplays && replayed_events_ < kMostReplayedEvents;
    if (!may_go_on) return replay.divergence();
    if (!narrow_open_block(replay) && !order_segments(replay)) return replay.divergence();
  }
}

std::optional<Divergence> VerifiedHistory::first_divergence() {
  std::optional<Divergence> divergence = replay_once();
  for (bool gets_further = true; divergence && gets_further;) {
    gets_further = false;
    const Assumptions before = assumptions_;
    for (const Assumptions& alternative : alternatives(*divergence)) {
      assumptions_ = alternative;
      std::optional<Divergence> next;
      try {
        find_state();
        if (first_event() != before.first_event && !has_first_block()) continue;
        next = replay_once();
      } catch (const HistoryError&) {
        continue;  // impossible
      }
      gets_further = !next || next->step.begin > divergence->step.begin;
      if (!gets_further) continue;
      divergence = next;
      break;
    }
    if (gets_further) continue;
    assumptions_ = before;
    find_state();
    if (divergence) divergence = replay_once();
  }
  return divergence;
}

/// See Note [Open sizes]: when the block that was taken is the gap behind an open one, less of it
/// can have been free.
bool VerifiedHistory::narrow_open_block(const HistoryReplay& replay) {
  const Divergence& divergence = *replay.divergence();
  if (divergence.step.kind != StepKind::allocate || !divergence.actual ||
      divergence.actual->action != EventAction::alloc) {
    return false;
  }
  const MemoryEvent& asked = history_.events[divergence.step.end - 1];
  const DeviceAddress taken = divergence.actual->address;
  for (OpenBlock& open : state_.open) {
    BlockAtStart& block = state_.allocated[open.index];
    if (open.is_known || lives_.lives[block.life].address + block.bytes != taken) continue;
    const std::size_t free_bytes = bytes_before_cut(replay.allocator(), taken);
    const std::size_t rounded = round_request(asked.bytes, history_.settings);
    if (free_bytes < rounded) return false;
    const std::size_t bytes = block.bytes + (free_bytes - rounded) + kMinBlockBytes;
    if (bytes > open.largest_bytes) return false;
    block.bytes = bytes;
    open.is_narrowed = true;
    place_blocks(state_, lives_);
    return true;
  }
  return false;
}

/// See Note [Order of segments].
bool VerifiedHistory::order_segments(const HistoryReplay& replay) {
  const Divergence& divergence = *replay.divergence();
  if (!rules_.orders_blocks_by_segment || divergence.what != Divergence::What::event ||
      !divergence.actual) {
    return false;
  }
  const MemoryEvent& recorded = history_.events[divergence.event];
  const MemoryEvent& actual = *divergence.actual;
  if (recorded.action != actual.action || recorded.bytes != actual.bytes) return false;
  if (recorded.action == EventAction::segment_free) {
    const bool is_reversed = are_released_last_first(divergence);
    add_order(is_reversed ? actual.address : recorded.address,
              is_reversed ? recorded.address : actual.address, divergence.event);
  } else if (recorded.action == EventAction::alloc) {
    const std::size_t bytes = bytes_before_cut(replay.allocator(), actual.address);
    const std::vector<DeviceAddress> others =
        free_blocks_beside(replay.allocator(), recorded.address, bytes);
    if (!others.empty()) add_order(recorded.address, actual.address, divergence.event);
    for (const DeviceAddress other : others) {
      add_order(recorded.address, other, divergence.event);
    }
  }
  if (order_.is_unknown()) return false;
  std::optional<std::vector<DeviceAddress>> order = order_.oldest_first(state_.segments);
  if (!order || *order == state_.oldest_first) return false;
  state_.oldest_first = std::move(*order);
  return true;
}

/// Of the segments that hold these blocks, where both were there from the beginning.
void VerifiedHistory::add_order(DeviceAddress earlier, DeviceAddress later, std::size_t event) {
  const std::optional<DeviceAddress> first = segment_at_start(earlier, event);
  const std::optional<DeviceAddress> second = segment_at_start(later, event);
  if (first && second && *first != *second) order_.add(*first, *second);
}

/// The segment that holds `address` before `event`, by its name; nullopt: it came later than the
/// record began.
std::optional<DeviceAddress> VerifiedHistory::segment_at_start(DeviceAddress address,
                                                               std::size_t event) const {
  const std::optional<DeviceAddress> segment = segment_holding(state_.segments, address);
  const bool is_new = segment && std::any_of(lives_.segment_events.begin(),
                                             lives_.segment_events.end(), [&](std::uint32_t index) {
                                               const MemoryEvent& made = history_.events[index];
                                               return index < event &&
                                                      made.action == EventAction::segment_alloc &&
                                                      made.address <= address &&
                                                      address < made.address + made.bytes;
                                             });
  return is_new ? std::nullopt : segment;
}

/// Those that a request gives back because none of them is large enough for it.
bool VerifiedHistory::are_released_last_first(const Divergence& divergence) const {
  const MemoryEvent& released = *divergence.actual;
  const std::size_t max_split = history_.settings.max_split_size_bytes;
  if (released.action != EventAction::segment_free || divergence.step.kind != StepKind::allocate ||
      max_split == AllocatorSettings::kNoMaxSplitSize) {
    return false;
  }
  const MemoryEvent& asked = history_.events[divergence.step.end - 1];
  return released.bytes >= max_split &&
         released.bytes < std::max(round_request(asked.bytes, history_.settings), max_split);
}

/// What else may have been the case where the allocator does not agree.
std::vector<Assumptions> VerifiedHistory::alternatives(const Divergence& divergence) const {
  std::vector<Assumptions> alternatives;
  const HistoryStep& step = divergence.step;
  if (step.kind != StepKind::allocate && step.kind != StepKind::flush) return alternatives;
  if (is_lost_beginning(divergence)) {
    alternatives.push_back(assumptions_);
    alternatives.back().first_event = step.end;
  }
  // A free that looks complete at once may have been waited for: then the request before which it
  // completed did not find the block.
  const auto before = static_cast<std::uint32_t>(step.begin - 1);
  const bool follows_completion = step.begin > first_event() + 1 &&
                                  history_.events[before].action == EventAction::free_completed;
  if (follows_completion && assumptions_.waited_for.count(before) == 0) {
    alternatives.push_back(assumptions_);
    alternatives.back().waited_for.insert(before);
  }
  for (std::size_t i = step.begin; i < step.end; ++i) {
    const auto index = static_cast<std::uint32_t>(i);
    const MemoryEvent& event = history_.events[i];
    if (event.action != EventAction::segment_unmap || event.bytes % kLargeBufferBytes != 0)
      continue;
    if (assumptions_.of_other_pool.count(index) != 0) continue;
    alternatives.push_back(assumptions_);
    alternatives.back().of_other_pool.insert(index);
  }
  return alternatives;
}

/// A record may begin within a request: with the block that it was given, when what made room for
/// the block is lost, or with the last free that it waited for.
bool VerifiedHistory::is_lost_beginning(const Divergence& divergence) const {
  return first_event() <= 1 && divergence.step.begin == first_event() &&
         divergence.step.kind == StepKind::allocate;
}

/// Whether the block of the request that is left out was there afterwards.
bool VerifiedHistory::has_first_block() const {
  const MemoryEvent& alloc = history_.events[first_event() - 1];
  if (alloc.action == EventAction::oom) return true;
  return std::any_of(lives_.before.begin(), lives_.before.end(), [&](std::uint32_t index) {
    const BlockLife& life = lives_.lives[index];
    return life.address == alloc.address && life.requested_bytes == alloc.bytes &&
           life.stream == alloc.stream;
  });
}

void VerifiedHistory::explain_divergence(const Divergence& divergence) {
  HistoryReplay before(history_, lives_, state_, rules_);
  before.run(first_event(), divergence.step.begin, HistoryReplay::Mode::stop_at_divergence);
  disagreement_ = explain(history_, lives_, divergence, before.allocator());
  if (lives_.segment_events.empty()) {
    disagreement_->details.emplace_back(
        "there is no event about segments: if they were left out of the history, it cannot be "
        "replayed");
  }
}

void VerifiedHistory::summarize(const HistoryReplay& replay) {
  is_replayed_ = true;
  counts_ = replay.counts();
  given_releases_ = replay.given_releases();
  peaks_ = replay.peaks();
  recorded_peaks_ = replay.recorded_peaks();
  flushes_ = replay.flushes();
  start_.segments = state_.segments.size();
  start_.blocks = state_.allocated.size();
  start_.reserved_bytes = state_.reserved_bytes();
  for (const OpenBlock& open : state_.open) {
    ++start_.open_blocks;
    if (open.is_known) ++start_.known_blocks;
    if (open.is_narrowed) ++start_.narrowed_blocks;
  }
}

}  // namespace ohm
