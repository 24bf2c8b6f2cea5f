// What a program did with the memory of its GPUs over time: the model behind charts of memory, of
// blocks and of segments.
//
// Time is the ordinal of an event, the same for all devices. It is a reduced record: see
// history_detail.h for what is left out of a long one. Positions are addresses with the unused
// ranges between segments taken out, so that they can be drawn.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocator_shim/observe/category.h"

namespace ohm {

/// A line of the program and the op that ran there.
struct HistorySite {
  std::string file;
  int line = 0;
  std::string op;
};

/// A block from its request until its memory was free for others.
struct HistoryBlock {
  std::uint32_t begin = 0;  ///< the first event at which it was there; 0 also: it began before
  std::uint32_t end = 0;    ///< the first event at which it was not; `events`: never
  std::uint64_t position = 0;
  std::uint64_t bytes = 0;
  std::uint32_t site = 0;  ///< index into MemoryHistory::sites
  Category category = Category::other;
};

/// A segment, or a mapped range of an expandable one.
struct HistorySegment {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint64_t position = 0;
  std::uint64_t bytes = 0;
};

/// Positions and the addresses that they stand for.
struct HistoryRange {
  std::uint64_t position = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

/// Memory that was taken at one event by blocks that were left out: neighbours are one run.
struct HistoryRun {
  std::uint64_t position = 0;
  std::uint64_t bytes = 0;
};

struct HistoryFrame {
  std::uint32_t event = 0;
  std::vector<HistoryRun> others;
};

/// One device. The curves have a figure for each bucket of `events_per_bucket` events.
struct DeviceMemoryHistory {
  std::string device;  ///< "cuda:0"
  std::vector<std::int64_t> allocated_high;
  std::vector<std::int64_t> allocated_low;
  std::vector<std::int64_t> reserved_high;
  /// What allocated_high was made of: a figure for each bucket; empty: none of this category.
  std::array<std::vector<std::int64_t>, kCategoryCount> by_category;
  std::uint32_t peak_event = 0;  ///< after which most was allocated, the first one
  std::vector<HistoryRange> ranges;
  std::vector<HistorySegment> segments;  ///< by begin, then position
  std::int64_t segments_left_out = 0;
  std::vector<HistoryBlock> blocks;  ///< by begin, then position
  std::int64_t blocks_left_out = 0;
  /// With blocks left out: where they were, at some events. Empty: nothing is missing at any.
  std::vector<HistoryFrame> frames;
};

struct MemoryHistory {
  std::uint32_t events = 0;
  std::uint32_t events_per_bucket = 1;
  std::vector<std::uint32_t> steps;  ///< the event after which each step ended
  std::uint32_t steps_every = 1;     ///< of so many steps the last is in `steps`
  std::optional<std::uint32_t> oom_event;
  std::vector<HistorySite> sites;
  std::vector<DeviceMemoryHistory> devices;
};

}  // namespace ohm
