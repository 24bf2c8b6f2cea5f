#include "allocator_shim/snapshot/snapshot_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <type_traits>
#include <utility>

#include "allocator_shim/base/assert.h"

namespace ohm {

namespace {

/// Of those with large numbers, which PyTorch does not give.
constexpr std::size_t kMaxPools = 256;
/// Problems are kept for messages; a file of nothing else must not fill memory with them.
constexpr std::size_t kMaxProblems = 64;

}  // namespace

SnapshotBuilder::SnapshotBuilder() { learn_words(); }

void SnapshotBuilder::learn_words() {
  const auto meaning = [&](std::string_view word) -> Meaning& {
    const TextId id = snapshot_.tables.intern(word);
    if (id >= meanings_.size()) meanings_.resize(id + 1);
    return meanings_[id];
  };
  for (std::size_t i = 0; i < kSnapshotKeyCount; ++i) {
    meaning(kSnapshotKeyNames[i]).key = static_cast<std::uint8_t>(i);
  }
  for (auto i = static_cast<std::uint8_t>(EventAction::alloc);
       i < static_cast<std::uint8_t>(EventAction::relabel); ++i) {
    meaning(ohm::name_of(static_cast<EventAction>(i))).action = i;
  }
  for (std::uint8_t i = 0; i < 3; ++i) {
    meaning(ohm::name_of(static_cast<BlockView::State>(i))).state = i;
  }
  meaning("active_awaiting_free").state =
      static_cast<std::uint8_t>(BlockView::State::active_pending_free);
  for (std::size_t i = 0; i < kSegmentTypeNames.size(); ++i) {
    meaning(kSegmentTypeNames[i]).is_small = static_cast<std::uint8_t>(i);
  }
  for (std::size_t i = 0; i < kRoundupKeyNames.size(); ++i) {
    meaning(kRoundupKeyNames[i]).roundup_index = static_cast<std::uint8_t>(i);
  }
}

void SnapshotBuilder::become(PickleValue& value, Role role, std::uint64_t payload) {
  value.role = static_cast<std::uint8_t>(role);
  value.payload = payload;
}

std::string_view SnapshotBuilder::words_for(Role role) {
  switch (role) {
    case Role::empty:
    case Role::other:
      break;  // their kind says more
    case Role::pool:
      return "a pool id";
    case Role::frames:
    case Role::stack:
      return "a list of frames";
    case Role::entries:
      return "a list of trace entries";
    case Role::blocks:
      return "a list of blocks";
    case Role::segments:
      return "a list of segments";
    case Role::annotations:
      return "a list of annotations";
    case Role::traces:
      return "a list of traces, one for each device";
    case Role::pasts:
    case Role::past:
      return "a block's history";
    case Role::frame:
      return "a frame";
    case Role::entry:
      return "a trace entry";
    case Role::block:
      return "a block";
    case Role::segment:
      return "a segment";
    case Role::annotation:
      return "an annotation";
    case Role::settings:
      return "the allocator's settings";
    case Role::roundup:
      return "roundup divisions";
    case Role::snapshot:
      return "a memory snapshot";
  }
  return "something else";
}

/// Throws unless the value is what is wanted, with the deepest reason that is known.
void SnapshotBuilder::expect(const PickleValue& value, Role role) const {
  if (role_of(value) == role) return;
  if (role_of(value) == Role::other && value.payload > 0) {
    throw PickleError(problems_[value.payload - 1]);
  }
  std::string found(ohm::name_of(value.kind));
  if (role_of(value) == Role::other)
    found += " of another kind";
  else if (role_of(value) != Role::empty)
    found = words_for(role_of(value));
  else if (value.kind >= PickleValue::Kind::tuple)
    found += " (empty)";
  throw PickleError(value.offset,
                    fmt::format("{} stands where {} must stand", found, words_for(role)));
}

/// It matters only if this is wanted as something: snapshots of other versions have more in them.
void SnapshotBuilder::become_other(PickleValue& value, const PickleError& problem) {
  const bool has_room = problems_.size() < kMaxProblems;
  if (has_room) problems_.push_back(problem);
  become(value, Role::other, has_room ? problems_.size() : 0);
}

/// Drops the record or list that no other takes; what was begun later is gone already.
void SnapshotBuilder::forget(const PickleValue& value) {
  const auto drop_record = [&](auto& collection) {
    if (value.payload < collection.waiting.size()) collection.waiting.resize(value.payload);
  };
  const auto drop_list = [&](auto& lists) {
    if (value.payload < lists.size()) lists[value.payload] = {};
    drop_empty(lists);
  };
  if (value.is_used_again()) return;
  switch (role_of(value)) {
    case Role::entry:
      return drop_record(entries_);
    case Role::block:
      return drop_record(blocks_);
    case Role::segment:
      return drop_record(segments_);
    case Role::annotation:
      return drop_record(annotations_);
    case Role::entries:
      return drop_list(entries_.lists);
    case Role::blocks:
      return drop_list(blocks_.lists);
    case Role::segments:
      return drop_list(segments_.lists);
    case Role::annotations:
      return drop_list(annotations_.lists);
    case Role::traces:
      return drop_list(traces_);
    default:
      return;
  }
}

// ---- what the reader tells ----------------------------------------------------------------------

std::uint64_t SnapshotBuilder::on_text(std::string_view text) {
  return snapshot_.tables.intern(text);
}

void SnapshotBuilder::on_tuple(PickleValue& tuple, std::span<const PickleValue> items) {
  using Kind = PickleValue::Kind;
  const bool is_pool = items.size() == 2 && items[0].kind == Kind::integer &&
                       items[1].kind == Kind::integer && pools_.size() < kMaxPools;
  if (!is_pool) {
    for (const PickleValue& item : items) forget(item);
    return become(tuple, Role::other, 0);
  }
  become(tuple, Role::pool, pool_payload({items[0].integer(), items[1].integer()}));
}

std::uint64_t SnapshotBuilder::pool_payload(const PoolId& pool) {
  const auto first = static_cast<std::uint64_t>(pool[0]);
  const auto second = static_cast<std::uint64_t>(pool[1]);
  if (first < 1U << 15U && second < 1U << 16U) return first << 16U | second;
  const auto known = std::find(pools_.begin(), pools_.end(), pool);
  const auto index = static_cast<std::uint64_t>(known - pools_.begin());
  if (known == pools_.end()) pools_.push_back(pool);
  return kStandsInPools | index;
}

PoolId SnapshotBuilder::pool_of(const PickleValue& tuple) const {
  const std::uint64_t payload = tuple.payload;
  if ((payload & kStandsInPools) != 0) return pools_[payload - kStandsInPools];
  return {static_cast<std::int64_t>(payload >> 16U), static_cast<std::int64_t>(payload & 0xFFFFU)};
}

PickleHandler::Reuse SnapshotBuilder::on_finished(PickleValue& container) {
  switch (role_of(container)) {
    case Role::frames: {
      const OpenFrames open = open_frames(container);
      const auto frames = std::span(open_frames_).subspan(open.begin, open.count);
      become(container, Role::stack, snapshot_.tables.intern(frames));
      if (open.begin + open.count == open_frames_.size()) open_frames_.resize(open.begin);
      return Reuse::shared;
    }
    case Role::empty:
    case Role::other:
    case Role::frame:
    case Role::stack:
    case Role::past:
    case Role::pasts:
      return Reuse::shared;
    default:
      return Reuse::once;
  }
}

/// What a list is of whose first item this is.
SnapshotBuilder::Role SnapshotBuilder::list_role(const PickleValue& item) {
  switch (role_of(item)) {
    case Role::frame:
      return Role::frames;
    case Role::entry:
      return Role::entries;
    case Role::block:
      return Role::blocks;
    case Role::segment:
      return Role::segments;
    case Role::annotation:
      return Role::annotations;
    case Role::entries:
      return Role::traces;
    case Role::past:
      return Role::pasts;
    default:
      return is_empty_list(item) ? Role::traces : Role::other;
  }
}

void SnapshotBuilder::on_list_items(PickleValue& list, std::span<const PickleValue> items) {
  const bool is_new = role_of(list) == Role::empty;
  try {
    switch (is_new ? list_role(items.front()) : role_of(list)) {
      case Role::frames:
        return add_frames(list, items);
      case Role::entries:
        return collect(entries_, Role::entry, Role::entries, list, items);
      case Role::blocks:
        return collect(blocks_, Role::block, Role::blocks, list, items);
      case Role::segments:
        return collect(segments_, Role::segment, Role::segments, list, items);
      case Role::annotations:
        return collect(annotations_, Role::annotation, Role::annotations, list, items);
      case Role::traces:
        return add_traces(list, items);
      case Role::pasts:
        if (is_new) become(list, Role::pasts, items.front().payload);
        return;
      default:
        break;
    }
  } catch (const PickleError& problem) {
    forget(list);
    become_other(list, problem);
  }
  for (const PickleValue& item : items) forget(item);
  const bool has_reason = role_of(items.front()) == Role::other;
  if (role_of(list) == Role::empty) become(list, Role::other, has_reason ? items[0].payload : 0);
}

void SnapshotBuilder::on_dict_items(PickleValue& dict, std::span<const PickleValue> items) {
  gather(items);
  if (role_of(dict) != Role::empty) return add_to_filled(dict);
  try {
    if (meaning_of(items.front()).roundup_index != Meaning::kNone) {
      return become(dict, Role::roundup, add_roundup(items));
    }
    for (const RecordKind& kind : record_kinds()) {
      if ((present_ & kind.signs) == 0) continue;
      const std::uint64_t missing = kind.needed & ~present_;
      if (missing == 0) return become(dict, kind.role, (this->*kind.add)(dict));
      const auto key = static_cast<std::size_t>(std::countr_zero(missing));
      throw PickleError(dict.offset, fmt::format("{} without '{}'", words_for(kind.role),
                                                 kSnapshotKeyNames[key]));
    }
    become(dict, Role::other, 0);
  } catch (const PickleError& problem) {
    become_other(dict, problem);
  }
}

/// Only dictionaries of over a thousand items come in several parts, and none of ours is so large.
void SnapshotBuilder::add_to_filled(PickleValue& dict) {
  if (role_of(dict) == Role::other && dict.payload == 0) return;
  forget(dict);
  become_other(dict, PickleError(dict.offset,
                                 "a dictionary is written in several steps, which Python's pickle "
                                 "does not do"));
}

Snapshot SnapshotBuilder::finish(const PickleValue& root) {
  // torch.cuda.memory_snapshot() returns the segments alone.
  if (role_of(root) == Role::segments) {
    snapshot_.segments = take_list(segments_, Role::segments, root);
    return std::move(snapshot_);
  }
  if (role_of(root) != Role::snapshot && (role_of(root) != Role::other || root.payload == 0)) {
    throw PickleError(
        root.offset, fmt::format("the pickle holds {}, not a memory snapshot: that is a dictionary "
                                 "with 'segments' and 'device_traces'",
                                 ohm::name_of(root.kind)));
  }
  expect(root, Role::snapshot);
  return std::move(snapshot_);
}

// ---- lists --------------------------------------------------------------------------------------

void SnapshotBuilder::add_frames(PickleValue& list, std::span<const PickleValue> items) {
  if (role_of(list) == Role::empty) become(list, Role::frames, open_frames_.size() << 32U);
  const OpenFrames open = open_frames(list);
  open_frames_.resize(open.begin + open.count);  // what was begun later is finished
  for (const PickleValue& item : items) {
    expect(item, Role::frame);
    open_frames_.push_back(static_cast<FrameId>(item.payload));
  }
  list.payload += items.size();
}

void SnapshotBuilder::add_traces(PickleValue& list, std::span<const PickleValue> items) {
  if (role_of(list) == Role::empty) {
    become(list, Role::traces, traces_.size());
    traces_.emplace_back();
  }
  auto& traces = traces_[list.payload];
  for (const PickleValue& item : items) {
    if (traces.size() == kMaxDevices) {
      throw PickleError(item.offset, fmt::format("traces of more than {} devices", kMaxDevices));
    }
    traces.push_back(take_list(entries_, Role::entries, item).take());
  }
}

template <typename Kind>
void SnapshotBuilder::collect(Kind& from, Role item_role, Role list_role, PickleValue& list,
                              std::span<const PickleValue> items) {
  if (role_of(list) == Role::empty) {
    become(list, list_role, from.lists.size());
    from.lists.emplace_back();
  }
  for (const PickleValue& item : items) expect(item, item_role);
  const auto first = static_cast<std::size_t>(items.front().payload);
  OHM_ASSERT(first + items.size() == from.waiting.size(),
             "records wait in the order of their values");
  auto& records = from.lists[list.payload];
  const std::span<typename Kind::Record> taken = std::span(from.waiting).subspan(first);
  if constexpr (std::is_same_v<Kind, Entries>) {
    records.append(taken);
  } else {
    if (records.empty()) records.reserve(taken.size());
    std::ranges::move(taken, std::back_inserter(records));
  }
  from.waiting.resize(first);
}

}  // namespace ohm
