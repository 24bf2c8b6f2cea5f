#include "allocator_shim/snapshot/recorded_snapshot.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>

#include "allocator_shim/base/assert.h"
#include "allocator_shim/snapshot/trace_details.h"

namespace ohm {

namespace {

/// Where the memory of private pools stands, as events come.
class PrivateRanges {
 public:
  void add(std::uint64_t address, std::uint64_t bytes, PoolId pool) {
    // What stood here before is gone.
    auto range = ranges_.lower_bound(address);
    if (range != ranges_.begin() && std::prev(range)->second.end > address) --range;
    while (range != ranges_.end() && range->first < address + bytes) range = ranges_.erase(range);
    if (pool != kNormalPool) ranges_[address] = {address + bytes, pool};
  }

  PoolId at(std::uint64_t address) const {
    const auto after = ranges_.upper_bound(address);
    if (after == ranges_.begin()) return kNormalPool;
    const Range& range = std::prev(after)->second;
    return address < range.end ? range.pool : kNormalPool;
  }

 private:
  struct Range {
    std::uint64_t end;
    PoolId pool;
  };
  std::map<std::uint64_t, Range> ranges_;
};

class SnapshotMaker {
 public:
  SnapshotMaker(const EventRecord& events, const SiteTable& sites, bool has_later_keys)
      : events_(events), sites_(sites), unknown_(snapshot_.tables.intern("unknown")) {
    snapshot_.has_later_keys = has_later_keys;
    if (has_later_keys) no_compilation_ = snapshot_.tables.intern("N/A");
  }

  Snapshot make(std::span<const std::vector<SegmentView>> segments_of_gpus,
                const SnapshotSettings& settings, const SnapshotHistory& history) {
    snapshot_.allocator_settings = settings;
    snapshot_.device_traces.resize(segments_of_gpus.size());
    private_ranges_.resize(segments_of_gpus.size());
    for (std::size_t i = 0; i < segments_of_gpus.size(); ++i) {
      for (const SegmentView& view : segments_of_gpus[i]) add_segment(view, i);
    }
    const std::uint64_t begin = std::max(history.first_event, events_.dropped());
    for (std::uint64_t i = 0; i < begin - events_.dropped(); ++i) note_segment(events_[i]);
    for (std::uint64_t i = begin - events_.dropped(); i < events_.size(); ++i) add_event(i);
    for (std::vector<TraceEntry>& trace : snapshot_.device_traces) {
      const std::size_t excess = trace.size() - std::min(trace.size(), history.max_entries);
      trace.erase(trace.begin(), trace.begin() + static_cast<std::ptrdiff_t>(excess));
    }
    return std::move(snapshot_);
  }

 private:
  StackId stack_of(SiteId id) {
    if (id == kUnknownSite) return kNoStack;
    const auto [known, is_new] = stacks_.try_emplace(id, kNoStack);
    if (!is_new) return known->second;
    const Site& site = sites_.at(id);
    StackTable& tables = snapshot_.tables;
    const StackFrame frame = {tables.intern(site.file),
                              tables.intern(site.op.empty() ? kNoOpName : site.op), site.line};
    const FrameId frames[] = {tables.intern(frame)};
    return known->second = tables.intern(frames);
  }

  void add_segment(const SegmentView& view, std::size_t gpu) {
    SnapshotSegment segment;
    segment.device = static_cast<std::int32_t>(gpu);
    segment.address = view.address;
    segment.bytes = view.bytes;
    segment.stream = view.stream;
    segment.pool = view.pool;
    private_ranges_[gpu].add(view.address, view.bytes, view.pool);
    segment.is_small = view.is_small;
    segment.is_expandable = view.is_expandable;
    for (const BlockView& block : view.blocks) {
      const bool is_active = block.state != BlockView::State::inactive;
      segment.blocks.push_back({block.address, block.bytes, block.requested_bytes,
                                stack_of(block.site),
                                is_active ? category_text(block.category) : kNoText, block.state});
      if (!is_active) continue;
      segment.active_bytes += block.bytes;
      segment.requested_bytes += block.requested_bytes;
      if (block.state == BlockView::State::active_allocated) segment.allocated_bytes += block.bytes;
    }
    snapshot_.segments.push_back(std::move(segment));
  }

  void add_event(std::size_t index) {
    const MemoryEvent& event = events_[index];
    if (event.device < 0) return;
    const auto gpu = static_cast<std::size_t>(int{event.device});
    OHM_ASSERT(gpu < snapshot_.device_traces.size(), "events are of the machine's GPUs");
    std::vector<TraceEntry>& trace = snapshot_.device_traces[gpu];
    note_segment(event);
    if (event.action == EventAction::relabel) return relabel(event, trace);
    TraceEntry entry;
    entry.action = event.action;
    entry.address = event.address;
    entry.bytes = event.bytes;
    entry.time_us = static_cast<std::int64_t>(events_.dropped() + index);
    entry.stack = stack_of(event.site);
    const TextId category = is_of_block(event) ? category_text(event.category) : unknown_;
    const TextId note = event.is_injected ? snapshot_.tables.intern(kInjectedNote) : kNoText;
    details_.set(snapshot_, entry, {event.stream, category, no_compilation_, note, pool_of(event)});
    if (event.action == EventAction::alloc) allocated_at_[event.address] = trace.size();
    trace.push_back(entry);
  }

  /// A block's category may turn out only later; viewers look at the allocation.
  void relabel(const MemoryEvent& event, std::vector<TraceEntry>& trace) {
    const auto allocated = allocated_at_.find(event.address);
    if (allocated == allocated_at_.end()) return;  // before the oldest event kept
    details_.set(
        snapshot_, trace[allocated->second],
        {event.stream, category_text(event.category), no_compilation_, kNoText, pool_of(event)});
  }

  void note_segment(const MemoryEvent& event) {
    const bool is_new =
        event.action == EventAction::segment_alloc || event.action == EventAction::segment_map;
    if (!is_new || event.device < 0) return;
    private_ranges_.at(static_cast<std::size_t>(int{event.device}))
        .add(event.address, event.bytes, unpacked_pool(event.block_units));
  }

  PoolId pool_of(const MemoryEvent& event) const {
    if (!is_of_block(event) && event.action != EventAction::relabel) {
      return unpacked_pool(event.block_units);
    }
    return private_ranges_[static_cast<std::size_t>(int{event.device})].at(event.address);
  }

  static bool is_of_block(const MemoryEvent& event) {
    switch (event.action) {
      case EventAction::alloc:
      case EventAction::free_requested:
      case EventAction::free_completed:
        return true;
      default:
        return false;
    }
  }

  TextId category_text(Category category) { return snapshot_.tables.intern(name_of(category)); }

  const EventRecord& events_;
  const SiteTable& sites_;
  Snapshot snapshot_;
  TraceDetails details_;
  TextId no_compilation_ = kNoText;  ///< compile_context of what is not compiled
  TextId unknown_;  ///< category of what is not a block: viewers need one of this name
  std::unordered_map<SiteId, StackId> stacks_;
  std::vector<PrivateRanges> private_ranges_;                    ///< by GPU
  std::unordered_map<std::uint64_t, std::size_t> allocated_at_;  ///< addresses differ by GPU
};

}  // namespace

Snapshot snapshot_of(std::span<const std::vector<SegmentView>> segments_of_gpus,
                     const EventRecord& events, const SiteTable& sites,
                     const SnapshotSettings& settings, const SnapshotHistory& history,
                     bool has_later_keys) {
  return SnapshotMaker(events, sites, has_later_keys).make(segments_of_gpus, settings, history);
}

}  // namespace ohm
