#include "allocator_shim/caching/golden_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "allocator_shim/base/assert.h"

namespace ohm {
namespace {

using DeviceRange = CountingDevice::Range;

/// FNV-1a with the basis that the recordings use, which is not the usual one.
class StateHash {
 public:
  void add_line(std::string_view line) {
    for (const char c : line) add(c);
    add('\n');
  }
  std::uint64_t value() const { return value_; }

 private:
  void add(char c) {
    constexpr std::uint64_t kPrime = 1099511628211U;
    value_ = (value_ ^ static_cast<unsigned char>(c)) * kPrime;
  }
  std::uint64_t value_ = 1469598103934665603U;
};

/// Which segment or reservation an address belongs to. One step of the trace may free a segment and
/// get the same address again, so ranges are taken over one by one, as the events tell of them.
class Ordinals {
 public:
  explicit Ordinals(const CountingDevice& device) : device_(device) {}

  const DeviceRange& of(DeviceAddress address) const {
    const auto above = current_.upper_bound(address);
    OHM_ASSERT(above != current_.begin(), "address belongs to no segment");
    return std::prev(above)->second;
  }

  void follow(const MemoryEvent& event) {
    if (event.action == EventAction::segment_alloc) {
      while (take_next().address != event.address) {
      }
    } else if (event.action == EventAction::segment_map && has_next()) {
      const DeviceRange& next = device_.ranges()[taken_];
      if (next.address <= event.address && event.address < next.address + next.bytes) take_next();
    }
  }
  void follow_all() {
    while (has_next()) take_next();
  }

 private:
  bool has_next() const { return taken_ < device_.ranges().size(); }
  const DeviceRange& take_next() {
    const DeviceRange& range = device_.ranges()[taken_++];
    // What used to be at these addresses is gone.
    current_.erase(current_.lower_bound(range.address),
                   current_.lower_bound(range.address + range.bytes));
    return current_[range.address] = range;
  }

  const CountingDevice& device_;
  std::map<DeviceAddress, DeviceRange> current_;
  std::size_t taken_ = 0;
};

char letter_of(BlockView::State state) { return "api"[static_cast<std::size_t>(state)]; }

std::uint64_t state_hash(const CachingAllocator& allocator, const Ordinals& ordinals) {
  struct Entry {
    std::size_t ordinal;
    std::size_t offset;
    SegmentView segment;
  };
  std::vector<Entry> entries;
  for (SegmentView& segment : allocator.segments()) {
    const DeviceRange& range = ordinals.of(segment.address);
    entries.push_back({range.ordinal, segment.address - range.address, std::move(segment)});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.ordinal, a.offset) < std::pair(b.ordinal, b.offset);
  });
  StateHash hash;
  for (const auto& [ordinal, offset, segment] : entries) {
    hash.add_line(fmt::format("S {} {} {} {} {}", ordinal, offset, segment.stream,
                              segment.is_small ? "small" : "large", segment.bytes));
    for (const BlockView& block : segment.blocks) {
      const bool is_inactive = block.state == BlockView::State::inactive;
      hash.add_line(fmt::format("B {} {} {} {}", block.address - segment.address + offset,
                                block.bytes, is_inactive ? 0 : block.requested_bytes,
                                letter_of(block.state)));
    }
  }
  return hash.value();
}

std::string place_of(const std::optional<DeviceAddress>& address, const Ordinals& ordinals) {
  if (!address) return "- -";
  const DeviceRange& range = ordinals.of(*address);
  return fmt::format("{} {}", range.ordinal, *address - range.address);
}

std::string status_line(const TraceRunner& runner, const TraceRunner::Outcome& outcome,
                        const Ordinals& ordinals) {
  constexpr std::string_view kStatus[] = {"ok", "oom", "skip"};
  const MemoryStats& stats = runner.allocator().stats();
  const CountingDevice& device = runner.device();
  return fmt::format(
      "{} {} {} {} {} {} {} {} {} {} {} {} {} {} {:016x}\n",
      kStatus[static_cast<std::size_t>(outcome.status)], place_of(outcome.address, ordinals),
      stats.allocated_bytes[0].current, stats.reserved_bytes[0].current,
      stats.active_bytes[0].current, stats.inactive_split_bytes[0].current,
      stats.requested_bytes[0].current, stats.allocated_bytes[0].peak, stats.reserved_bytes[0].peak,
      stats.num_alloc_retries, stats.num_ooms, device.segment_calls(), device.free_calls(),
      device.failed_segment_calls(), state_hash(runner.allocator(), ordinals));
}

std::string stats_line(const MemoryStats& stats) {
  std::string line = "stats";
  for (const auto& [name, stat] : stats.named_stats()) {
    line +=
        fmt::format(" {}={},{},{},{}", name, stat.current, stat.peak, stat.allocated, stat.freed);
  }
  for (const auto& [name, value] : stats.named_scalars())
    line += fmt::format(" {}={}", name, value);
  return line + "\n";
}

std::string event_line(const MemoryEvent& event, std::size_t line, const Ordinals& ordinals) {
  if (event.action == EventAction::oom) {
    return fmt::format("{} oom - {} {} {}\n", line, event.address, event.bytes, event.stream);
  }
  return fmt::format("{} {} {} {} {}\n", line, name_of(event.action),
                     place_of(event.address, ordinals), event.bytes, event.stream);
}

void append_events(GoldenOutput& output, EventRecord& events, std::size_t line,
                   Ordinals& ordinals) {
  for (std::size_t i = 0; i < events.size(); ++i) {
    ordinals.follow(events[i]);
    output.events += event_line(events[i], line, ordinals);
  }
  ordinals.follow_all();
  events.clear();
}

}  // namespace

GoldenOutput run_in_golden_format(const Trace& trace, const TraceRunOptions& options) {
  TraceRunner runner(trace, options);
  Ordinals ordinals(runner.device());
  GoldenOutput output;
  for (const std::string& header : trace.headers) output.expected += header + "\n";
  for (const TraceOperation& operation : trace.operations) {
    const TraceRunner::Outcome outcome = runner.run(operation);
    append_events(output, runner.events(), operation.line, ordinals);
    if (operation.kind == TraceOperation::Kind::print_stats) {
      output.expected += stats_line(runner.allocator().stats());
    } else {
      output.expected += status_line(runner, outcome, ordinals);
    }
    if (outcome.status == TraceRunner::Status::out_of_memory) {
      output.out_of_memory += fmt::format("{}\t{}\n", operation.line, outcome.message);
    }
  }
  return output;
}

}  // namespace ohm
