#include "reports/history/history_builder.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace ohm::reports {

namespace {

/// Addresses without the gaps that nothing ever used.
class Positions {
 public:
  explicit Positions(const LiveMemory& memory) {
    std::vector<HistoryRange> found;
    for (const SegmentSpan& segment : memory.segments()) {
      found.push_back({0, segment.address, segment.bytes});
    }
    join(std::move(found));
    // A record may know blocks without their segments.
    found = ranges_;
    for (const BlockSpan& block : memory.blocks()) {
      if (!holds(block.address, block.bytes)) found.push_back({0, block.address, block.bytes});
    }
    if (found.size() > ranges_.size()) join(std::move(found));
  }

  std::uint64_t of(std::uint64_t address) const {
    const auto after = after_address(address);
    const HistoryRange& range = *std::prev(after);
    return range.position + (address - range.address);
  }

  std::vector<HistoryRange> take() { return std::move(ranges_); }

 private:
  std::vector<HistoryRange>::const_iterator after_address(std::uint64_t address) const {
    return std::upper_bound(
        ranges_.begin(), ranges_.end(), address,
        [](std::uint64_t value, const HistoryRange& range) { return value < range.address; });
  }

  bool holds(std::uint64_t address, std::uint64_t bytes) const {
    const auto after = after_address(address);
    if (after == ranges_.begin()) return false;
    const HistoryRange& range = *std::prev(after);
    return address + bytes <= range.address + range.bytes;
  }

  void join(std::vector<HistoryRange> found) {
    std::sort(found.begin(), found.end(), [](const HistoryRange& a, const HistoryRange& b) {
      return std::tie(a.address, a.bytes) < std::tie(b.address, b.bytes);
    });
    ranges_.clear();
    std::uint64_t position = 0;
    for (const HistoryRange& one : found) {
      const std::uint64_t end = one.address + one.bytes;
      if (!ranges_.empty() && one.address <= ranges_.back().address + ranges_.back().bytes) {
        HistoryRange& last = ranges_.back();
        const std::uint64_t last_end = last.address + last.bytes;
        if (end <= last_end) continue;
        last.bytes = end - last.address;
        position += end - last_end;
        continue;
      }
      ranges_.push_back({position, one.address, one.bytes});
      position += one.bytes;
    }
  }

  std::vector<HistoryRange> ranges_;
};

template <class Span>
bool by_begin(const Span& a, const Span& b) {
  return std::tie(a.begin, a.position) < std::tie(b.begin, b.position);
}

void add_spans(DeviceMemoryHistory& history, const LiveMemory& memory, std::uint32_t events) {
  Positions positions(memory);
  for (const SegmentSpan& segment : memory.segments()) {
    const std::uint32_t end = std::min(segment.end, events);
    if (end <= segment.begin) continue;  // a piece that was cut at once
    history.segments.push_back({segment.begin, end, positions.of(segment.address), segment.bytes});
  }
  history.blocks.reserve(memory.blocks().size());
  for (const BlockSpan& block : memory.blocks()) {
    history.blocks.push_back({block.begin, std::min(block.end, events), positions.of(block.address),
                              block.bytes, block.site, block.category});
  }
  std::sort(history.segments.begin(), history.segments.end(), by_begin<HistorySegment>);
  // They come as they began; only those of one event can be out of order.
  if (!std::is_sorted(history.blocks.begin(), history.blocks.end(), by_begin<HistoryBlock>)) {
    std::sort(history.blocks.begin(), history.blocks.end(), by_begin<HistoryBlock>);
  }
  history.ranges = positions.take();
}

}  // namespace

HistoryBuilder::HistoryBuilder(std::size_t devices, std::uint32_t events) : devices_(devices) {
  history_.events = events;
  history_.events_per_bucket = std::max<std::uint32_t>(1, (events + kMaxBuckets - 1) / kMaxBuckets);
}

/// Each new bucket starts with what is there.
void HistoryBuilder::open_buckets(Device& device, std::size_t count) const {
  DeviceMemoryHistory& history = device.history;
  if (history.allocated_high.size() >= count) return;
  history.allocated_high.resize(count, device.memory.allocated_bytes());
  history.allocated_low.resize(count, device.memory.allocated_bytes());
  history.reserved_high.resize(count, device.memory.reserved_bytes());
  for (std::size_t i = 0; i < kCategoryCount; ++i) {
    history.by_category[i].resize(count, device.memory.by_category()[i]);
  }
}

void HistoryBuilder::add(const MemoryEvent& event, std::uint32_t time) {
  if (event.device < 0 || static_cast<std::size_t>(event.device) >= devices_.size()) return;
  Device& device = devices_[static_cast<std::size_t>(event.device)];
  const std::size_t bucket = time / history_.events_per_bucket;
  DeviceMemoryHistory& history = device.history;
  // A bucket of one event shows what is after it; a longer one begins with what was before.
  const bool is_single = history_.events_per_bucket == 1;
  open_buckets(device, is_single ? bucket : bucket + 1);
  device.memory.add(event, time);
  open_buckets(device, bucket + 1);
  const std::int64_t allocated = device.memory.allocated_bytes();
  history.reserved_high[bucket] =
      std::max(history.reserved_high[bucket], device.memory.reserved_bytes());
  history.allocated_low[bucket] = std::min(history.allocated_low[bucket], allocated);
  if (allocated >= history.allocated_high[bucket]) {
    history.allocated_high[bucket] = allocated;
    for (std::size_t i = 0; i < kCategoryCount; ++i) {
      history.by_category[i][bucket] = device.memory.by_category()[i];
    }
  }
  device.peak_reserved_bytes = std::max(device.peak_reserved_bytes, device.memory.reserved_bytes());
  if (allocated > device.peak_bytes) {
    device.peak_bytes = allocated;
    history.peak_event = time;
  }
}

HistoryBuilder::Totals HistoryBuilder::totals(std::size_t device) const {
  const Device& one = devices_[device];
  return {one.peak_bytes, one.peak_reserved_bytes, one.memory.allocated_bytes(),
          one.history.peak_event};
}

MemoryHistory HistoryBuilder::finish() {
  const std::size_t buckets =
      (history_.events + history_.events_per_bucket - 1) / history_.events_per_bucket;
  for (Device& device : devices_) {
    open_buckets(device, buckets);
    for (std::vector<std::int64_t>& curve : device.history.by_category) {
      if (std::all_of(curve.begin(), curve.end(), [](std::int64_t bytes) { return bytes == 0; })) {
        curve.clear();
      }
    }
    add_spans(device.history, device.memory, history_.events);
    history_.devices.push_back(std::move(device.history));
  }
  devices_.clear();
  return std::move(history_);
}

}  // namespace ohm::reports
