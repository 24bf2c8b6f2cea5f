// The history of a program's GPU memory: the model behind charts of memory, of blocks and of
// segments.
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
#include "reports/model/fields.h"

namespace ohm {

/// A line of the program and the op that ran there.
struct HistorySite {
  std::string file;
  int line = 0;
  std::string op;
  std::string module;        ///< path of the module whose forward was running: "Net.layers.1"
  std::uint32_t call = 0;    ///< the innermost one, 1 + index into MemoryHistory::calls; 0: unknown
  std::string library = {};  ///< the library's line behind it: "timm/layers/mlp.py:43 forward"

  static constexpr const char* kSchemaName = "site";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = HistorySite;
    visit("file", &T::file);
    visit("line", &T::line);
    visit("op", &T::op);
    visit("module", &T::module, Presence::optional, "Path of the module that was running.");
    visit("call", &T::call, Presence::optional, "Innermost call: 1 + index into calls.");
    visit("library", &T::library, Presence::optional,
          "The library's line behind it, where several share it.");
  }
};

/// A line that stands on stacks.
struct HistoryLine {
  std::string file;
  int line = 0;
  std::string function;
  bool is_own = false;  ///< a line of the program's own files, no library's and no native one

  static constexpr const char* kSchemaName = "stack_line";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = HistoryLine;
    visit("file", &T::file);
    visit("line", &T::line);
    visit("function", &T::function);
    visit("own", &T::is_own, Presence::optional, "Belongs to the program's own files.");
  }
};

/// A line that was running for a caller: stacks are the paths of this tree.
struct HistoryCall {
  std::uint32_t line = 0;    ///< index into MemoryHistory::lines
  std::uint32_t caller = 0;  ///< 1 + index of a call before this one; 0: it is the outermost

  static constexpr const char* kSchemaName = "calls";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = HistoryCall;
    visit("line", &T::line, "Index into lines.");
    visit("caller", &T::caller, "1 + index of the calling frame; 0: the outermost.");
  }
};

/// A block from its request until its memory was free for others.
struct HistoryBlock {
  std::uint32_t begin = 0;  ///< the first event at which it was there; 0 also: it began before
  std::uint32_t end = 0;    ///< the first event at which it was not; `events`: never
  std::uint64_t position = 0;
  std::uint64_t bytes = 0;
  std::uint32_t site = 0;  ///< index into MemoryHistory::sites
  Category category = Category::other;

  static constexpr const char* kSchemaName = "blocks";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = HistoryBlock;
    visit("begin", &T::begin);
    visit("end", &T::end);
    visit("position", &T::position);
    visit("bytes", &T::bytes);
    visit("site", &T::site, "Index into sites.");
    visit("category", &T::category, "Index into the categories in their order.");
  }
};

/// A segment, or a mapped range of an expandable one.
struct HistorySegment {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint64_t position = 0;
  std::uint64_t bytes = 0;

  static constexpr const char* kSchemaName = "segments";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = HistorySegment;
    visit("begin", &T::begin);
    visit("end", &T::end);
    visit("position", &T::position);
    visit("bytes", &T::bytes);
  }
};

/// Positions and the addresses that they stand for.
struct HistoryRange {
  std::uint64_t position = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;

  static constexpr const char* kSchemaName = "ranges";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = HistoryRange;
    visit("position", &T::position);
    visit("address", &T::address);
    visit("bytes", &T::bytes);
  }
};

/// Memory that was taken at one event by blocks that were left out: neighbours are one run.
struct HistoryRun {
  std::uint64_t position = 0;
  std::uint64_t bytes = 0;

  static constexpr const char* kSchemaName = "runs";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = HistoryRun;
    visit("position", &T::position);
    visit("bytes", &T::bytes);
  }
};

struct HistoryFrame {
  std::uint32_t event = 0;
  std::vector<HistoryRun> others;

  static constexpr const char* kSchemaName = "frame";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = HistoryFrame;
    visit("event", &T::event);
    visit("others", &T::others, kAsOwnColumns);
  }
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

  static constexpr const char* kSchemaName = "device_history";
  static constexpr const char* kSchemaDescription =
      "Curves have a figure for each bucket of events, blocks and segments a row.";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = DeviceMemoryHistory;
    visit("device", &T::device);
    visit("allocated_high", &T::allocated_high, kAsColumns);
    visit("allocated_low", &T::allocated_low, kAsColumns);
    visit("reserved_high", &T::reserved_high, kAsColumns);
    visit("by_category", &T::by_category, kKeyedBy<Category>);
    visit("peak_event", &T::peak_event);
    visit("ranges", &T::ranges, kAsColumns);
    visit("segments", &T::segments, kAsColumns);
    visit("segments_left_out", &T::segments_left_out);
    visit("blocks", &T::blocks, kAsColumns);
    visit("blocks_left_out", &T::blocks_left_out);
    visit("frames", &T::frames, "Placement of omitted blocks at some events.");
  }
};

struct MemoryHistory {
  std::uint32_t events = 0;
  std::uint32_t events_per_bucket = 1;
  std::vector<std::uint32_t> steps;  ///< the event after which each step ended
  std::uint32_t steps_every = 1;     ///< of so many steps the last is in `steps`
  std::optional<std::uint32_t> oom_event;
  std::vector<HistorySite> sites;
  std::vector<HistoryLine> lines;  ///< of the stacks; empty where none are known
  std::vector<HistoryCall> calls;
  std::vector<DeviceMemoryHistory> devices;

  static constexpr const char* kSchemaName = "history";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = MemoryHistory;
    visit("events", &T::events);
    visit("events_per_bucket", &T::events_per_bucket);
    visit("steps", &T::steps, kAsColumns, "The event after which each step ended.");
    visit("steps_every", &T::steps_every, Presence::optional,
          "Stride of step marks: only every N-th step end is stored; absent: all.");
    visit("oom_event", &T::oom_event, Presence::optional);
    visit("sites", &T::sites);
    visit("lines", &T::lines, Presence::optional, "Source lines of the stacks.");
    visit("calls", &T::calls, kAsColumns, Presence::optional, "Stacks, as a tree of calls.");
    visit("devices", &T::devices);
  }
};

}  // namespace ohm
