#include "allocator_shim/replay/device_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>
#include <utility>

#include "allocator_shim/base/size_policy.h"

namespace ohm {
namespace {

constexpr std::string_view kNoEvents =
    "no events were recorded: start torch.cuda.memory._record_memory_history() with "
    "enabled=\"all\" "
    "before what is to be replayed";

[[noreturn]] void refuse_segment(const SnapshotSegment& segment, const std::string& why) {
  throw HistoryError(HistoryError::Kind::inconsistent,
                     fmt::format("segment {:#x}: {}", segment.address, why));
}

// ---- settings -----------------------------------------------------------------------------------

/// What the snapshot lists wins over its string: the string may be of a later version.
AllocatorSettings settings_of(const SnapshotSettings& listed, const RuleSet& rules,
                              std::vector<std::string>& notes) {
  AllocatorSettings settings;
  try {
    settings = parse_settings(listed.alloc_conf, rules);
  } catch (const std::invalid_argument& error) {
    notes.push_back(
        fmt::format("the settings \"{}\" are not understood ({}): replayed with the "
                    "values that the snapshot lists",
                    listed.alloc_conf, error.what()));
  }
  settings.text = listed.alloc_conf;
  settings.max_split_size_bytes = listed.max_split_size > 0
                                      ? static_cast<std::size_t>(listed.max_split_size)
                                      : AllocatorSettings::kNoMaxSplitSize;
  settings.garbage_collection_threshold = listed.garbage_collection_threshold;
  settings.expandable_segments = listed.expandable_segments;
  for (std::size_t i = 0; i < settings.roundup_power2_divisions.size(); ++i) {
    const auto division = static_cast<std::uint64_t>(listed.roundup_power2_divisions[i]);
    if (division != 0 && !std::has_single_bit(division)) {
      throw HistoryError(HistoryError::Kind::inconsistent,
                         fmt::format("roundup_power2_divisions: {} is not a power of two",
                                     listed.roundup_power2_divisions[i]));
    }
    settings.roundup_power2_divisions[i] = division;
  }
  return settings;
}

// ---- segments -----------------------------------------------------------------------------------

bool is_block(std::uint64_t address, std::uint64_t bytes) {
  const bool is_aligned = address % kMinBlockBytes == 0 && bytes % kMinBlockBytes == 0;
  return is_aligned && address > 0 && bytes > 0 && address < kAddressLimit && bytes < kAddressLimit;
}

void check_sum(const SnapshotSegment& segment, const char* key, std::uint64_t listed,
               std::uint64_t sum) {
  if (listed == sum) return;
  refuse_segment(segment,
                 fmt::format("its {} is {}, but its blocks add up to {}", key, listed, sum));
}

void check_sums(const SnapshotSegment& segment) {
  std::uint64_t bytes = 0;
  std::uint64_t allocated = 0;
  std::uint64_t active = 0;
  std::uint64_t requested = 0;
  for (const SnapshotBlock& block : segment.blocks) {
    if (block.address != segment.address + bytes) {
      refuse_segment(segment, fmt::format("block {:#x} does not begin where the one before it ends",
                                          block.address));
    }
    if (!is_block(block.address, block.bytes)) {
      refuse_segment(segment,
                     fmt::format("{} bytes at {:#x} are no block", block.bytes, block.address));
    }
    bytes += block.bytes;
    if (block.state == BlockView::State::inactive) continue;
    active += block.bytes;
    requested += block.requested_bytes;
    if (block.state == BlockView::State::active_allocated) allocated += block.bytes;
  }
  check_sum(segment, "total_size", segment.bytes, bytes);
  check_sum(segment, "allocated_size", segment.allocated_bytes, allocated);
  check_sum(segment, "active_size", segment.active_bytes, active);
  check_sum(segment, "requested_size", segment.requested_bytes, requested);
}

SegmentView view_of(const SnapshotSegment& segment, StreamId lane) {
  SegmentView view;
  view.address = view.reservation_address = segment.address;
  view.bytes = view.reservation_bytes = segment.bytes;
  view.stream = lane;
  view.is_small = segment.is_small;
  view.is_expandable = segment.is_expandable;
  view.blocks.reserve(segment.blocks.size());
  for (const SnapshotBlock& block : segment.blocks) {
    BlockView& added = view.blocks.emplace_back();
    added.address = block.address;
    added.bytes = block.bytes;
    added.requested_bytes = block.requested_bytes;
    added.state = block.state;
  }
  return view;
}

// ---- lanes --------------------------------------------------------------------------------------

/// Numbers lanes as they come, and in their order at the end.
class LaneTable {
 public:
  StreamId id_of(const Lane& lane) {
    return ids_.try_emplace(key_of(lane), static_cast<StreamId>(ids_.size())).first->second;
  }

  std::vector<Lane> in_order() const {
    std::vector<Lane> lanes;
    for (const auto& [key, id] : ids_) lanes.push_back(lane_of(key));
    return lanes;
  }

  /// Index: an id that id_of() gave; value: its place in order.
  std::vector<StreamId> places() const {
    std::vector<StreamId> places(ids_.size());
    StreamId place = 0;
    for (const auto& [key, id] : ids_) places[id] = place++;
    return places;
  }

 private:
  using Key = std::tuple<bool, PoolId, std::uint64_t>;  // a stream is a pointer
  static Key key_of(const Lane& lane) {
    return {lane.is_private(), lane.pool, static_cast<std::uint64_t>(lane.stream)};
  }
  static Lane lane_of(const Key& key) {
    return {std::get<1>(key), static_cast<std::int64_t>(std::get<2>(key))};
  }

  std::map<Key, StreamId> ids_;
};

class HistoryBuilder {
 public:
  HistoryBuilder(const Snapshot& snapshot, int device)
      : snapshot_(snapshot),
        device_(device),
        trace_(snapshot.device_traces[static_cast<std::size_t>(device)]) {
    for (const SnapshotSegment& segment : snapshot.segments) {
      if (segment.device == device) segments_.push_back(&segment);
    }
    std::sort(segments_.begin(), segments_.end(),
              [](const auto* a, const auto* b) { return a->address < b->address; });
  }

  DeviceHistory build(const RuleSet& rules) {
    DeviceHistory history;
    history.device = device_;
    lanes_.id_of({});  // the default stream, whether it is used or not
    try {
      take_settings(history, rules);
      take_segments(history);
    } catch (const HistoryError& error) {
      history.contradiction = error.what();
      return history;
    }
    copy_events(history);
    move_private_events(history);
    order_lanes(history);
    find_emptied(history);
    return history;
  }

 private:
  void take_settings(DeviceHistory& history, const RuleSet& rules) const {
    if (snapshot_.allocator_settings) {
      history.settings = settings_of(*snapshot_.allocator_settings, rules, history.notes);
    } else {
      history.notes.emplace_back(
          "the snapshot names no allocator settings: PyTorch's defaults are assumed");
    }
  }

  void take_segments(DeviceHistory& history) {
    for (const SnapshotSegment* segment : segments_) {
      check_sums(*segment);
      history.segments.push_back(view_of(*segment, lanes_.id_of({segment->pool, segment->stream})));
    }
  }

  bool is_injected(const TraceEntry& entry) const {
    const TextId note = snapshot_.detail(entry).user_metadata;
    return entry.action == EventAction::oom && note != kNoText &&
           snapshot_.tables.text(note) == kInjectedNote;
  }

  void copy_events(DeviceHistory& history) {
    std::vector<StreamId> lane_of_detail;
    for (const TraceDetail& detail : snapshot_.details) {
      lane_of_detail.push_back(lanes_.id_of({{}, detail.stream}));
    }
    history.events.resize(trace_.size());
    for (std::size_t i = 0; i < trace_.size(); ++i) {
      const TraceEntry& entry = trace_[i];
      MemoryEvent& event = history.events[i];
      event.is_injected = is_injected(entry);
      event.address = entry.address;
      event.bytes = entry.bytes;
      event.stream = lane_of_detail[entry.detail];
      event.device = static_cast<std::int8_t>(device_);
      event.action = entry.action;
    }
  }

  // Events do not say which pool they are of: it is that of the segment that stands there at the
  // end, from the event on that made it.
  void move_private_events(DeviceHistory& history) {
    struct Range {
      std::uint64_t end;
      PoolId pool;
      std::size_t born;
    };
    std::map<std::uint64_t, Range> ranges;
    for (const SnapshotSegment* segment : segments_) {
      if (segment->pool == kNormalPool) continue;
      ranges[segment->address] = {segment->address + segment->bytes, segment->pool, 0};
    }
    if (ranges.empty()) return;
    for (std::size_t i = 0; i < history.events.size(); ++i) {
      const MemoryEvent& event = history.events[i];
      if (event.action != EventAction::segment_alloc) continue;
      if (const auto range = ranges.find(event.address); range != ranges.end()) {
        range->second.born = i;
      }
    }
    const std::vector<Lane> known = lanes_by_id();
    for (std::size_t i = 0; i < history.events.size(); ++i) {
      MemoryEvent& event = history.events[i];
      if (event.action == EventAction::oom || event.action == EventAction::snapshot) continue;
      const auto above = ranges.upper_bound(event.address);
      if (above == ranges.begin()) continue;
      const Range& range = std::prev(above)->second;
      if (event.address >= range.end || i < range.born) continue;
      event.stream = lanes_.id_of({range.pool, known[event.stream].stream});
    }
  }

  std::vector<Lane> lanes_by_id() const {
    const std::vector<Lane> in_order = lanes_.in_order();
    const std::vector<StreamId> places = lanes_.places();
    std::vector<Lane> lanes;
    for (const StreamId place : places) lanes.push_back(in_order[place]);
    return lanes;
  }

  void order_lanes(DeviceHistory& history) const {
    history.lanes = lanes_.in_order();
    const std::vector<StreamId> places = lanes_.places();
    for (MemoryEvent& event : history.events) event.stream = places[event.stream];
    for (SegmentView& segment : history.segments) segment.stream = places[segment.stream];
  }

  bool says_empty_cache(StackId stack) const {
    for (const FrameId frame : snapshot_.tables.stack(stack)) {
      const std::string_view name = snapshot_.tables.text(snapshot_.tables.frame(frame).name);
      if (name == "empty_cache" || name.find("emptyCache") != std::string_view::npos) return true;
    }
    return false;
  }

  void find_emptied(DeviceHistory& history) const {
    for (std::size_t i = 0; i < history.events.size(); ++i) {
      const EventAction action = history.events[i].action;
      if (action != EventAction::segment_free && action != EventAction::segment_unmap) continue;
      const StackId stack = trace_[i].stack;
      if (stack == kNoStack) continue;
      history.knows_who_emptied = true;
      if (says_empty_cache(stack)) history.emptied.push_back(static_cast<std::uint32_t>(i));
    }
  }

  const Snapshot& snapshot_;
  int device_;
  const std::vector<TraceEntry>& trace_;
  std::vector<const SnapshotSegment*> segments_;
  LaneTable lanes_;
};

}  // namespace

std::vector<DeviceHistory> device_histories(const Snapshot& snapshot, const RuleSet& rules) {
  std::vector<DeviceHistory> histories;
  for (std::size_t device = 0; device < snapshot.device_traces.size(); ++device) {
    if (snapshot.device_traces[device].empty()) continue;
    histories.push_back(HistoryBuilder(snapshot, static_cast<int>(device)).build(rules));
  }
  if (histories.empty()) {
    throw HistoryError(HistoryError::Kind::insufficient, std::string(kNoEvents));
  }
  return histories;
}

}  // namespace ohm
