#include "allocator_shim/snapshot/snapshot_writer.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "allocator_shim/snapshot/snapshot_reader.h"
#include "allocator_shim/snapshot/trace_details.h"
#include "tests/support/golden.h"
#include "tests/support/snapshot_text.h"

namespace ohm {
namespace {

/// Two devices and every kind of figure.
Snapshot sample() {
  Snapshot snapshot;
  StackTable& tables = snapshot.tables;
  const FrameId inner = tables.intern(
      StackFrame{tables.intern("scenarios/leak.lua"), tables.intern("linear_backward"), 42});
  const FrameId outer =
      tables.intern(StackFrame{tables.intern("r\xC3\xA9sum\xC3\xA9.py"), tables.intern("m"), -1});
  const FrameId frames[] = {inner, outer, inner};
  const StackId stack = tables.intern(frames);

  SnapshotSegment segment;
  segment.device = 1;
  segment.address = 0x7f0000000000;
  segment.bytes = 2097152;
  segment.allocated_bytes = 512;
  segment.active_bytes = 1024;
  segment.requested_bytes = 700;
  segment.stream = -2;
  segment.pool = {3, 5};
  segment.is_small = true;
  segment.is_expandable = true;
  segment.stack = stack;
  segment.blocks = {
      {0x7f0000000000, 512, 400, stack, tables.intern("parameter"),
       BlockView::State::active_allocated},
      {0x7f0000000200, 512, 300, kNoStack, kNoText, BlockView::State::active_pending_free},
      {0x7f0000000400, 2096128, 17, kNoStack, kNoText, BlockView::State::inactive}};
  snapshot.segments.push_back(segment);
  snapshot.segments.emplace_back();

  const std::int64_t figures[] = {0,
                                  255,
                                  256,
                                  65535,
                                  65536,
                                  2147483647,
                                  2147483648,
                                  -1,
                                  -129,
                                  -2147483648,
                                  -2147483649,
                                  1LL << 40,
                                  -(1LL << 40),
                                  std::numeric_limits<std::int64_t>::max(),
                                  std::numeric_limits<std::int64_t>::min() + 1};
  TraceDetails details;
  snapshot.device_traces.resize(2);
  for (auto action = static_cast<int>(EventAction::alloc);
       action < static_cast<int>(EventAction::relabel); ++action) {
    TraceEntry entry;
    entry.action = static_cast<EventAction>(action);
    for (const std::int64_t figure : figures) {
      entry.address = figure < 0 ? 0 : static_cast<std::uint64_t>(figure);
      entry.bytes = entry.address / 2;
      entry.time_us = figure;
      entry.stack = figure % 2 == 0 ? stack : kNoStack;
      details.set(snapshot, entry,
                  {figure, tables.intern(figure < 0 ? "unknown" : "activation"),
                   tables.intern(figure == 0 ? "0/1" : ""), tables.intern("step")});
      snapshot.device_traces[1].push_back(entry);
    }
    entry.time_us = kNoTime;
    snapshot.device_traces[1].push_back(entry);
  }
  SnapshotSettings settings;
  settings.alloc_conf = "max_split_size_mb:128,expandable_segments:True";
  settings.max_split_size = 134217728;
  settings.garbage_collection_threshold = 0.6;
  settings.expandable_segments = true;
  settings.pinned_num_register_threads = 8;
  settings.release_lock_on_cudamalloc = true;
  settings.pinned_use_cuda_host_register = true;
  settings.graph_capture_record_stream_reuse = true;
  for (std::size_t i = 0; i < 16; ++i) {
    settings.roundup_power2_divisions[i] = std::int64_t{1} << i;
  }
  snapshot.allocator_settings = settings;
  snapshot.external_annotations = {{tables.intern("step"), tables.intern("START"), 1, 12},
                                   {tables.intern("step"), tables.intern("END"), 0, kNoTime}};
  return snapshot;
}

/// Reads opcodes as the viewer does, and says which ones there are.
class Opcodes {
 public:
  explicit Opcodes(std::string_view bytes) : bytes_(bytes) {
    while (at_ < bytes_.size()) step();
  }
  const std::set<std::uint8_t>& used() const { return used_; }
  std::size_t largest_batch() const { return largest_batch_; }

 private:
  std::uint64_t little_endian(std::size_t count) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      value |= std::uint64_t{static_cast<std::uint8_t>(bytes_[at_ + i])} << (8 * i);
    }
    at_ += count;
    return value;
  }

  void step() {
    const auto opcode = static_cast<std::uint8_t>(bytes_[at_++]);
    used_.insert(opcode);
    switch (opcode) {
      case 0x80:
      case 'K':
      case 'h':
        at_ += 1;
        break;  // PROTO BININT1 BINGET
      case 'M':
        at_ += 2;
        break;  // BININT2
      case 'J':
      case 'j':
        at_ += 4;
        break;  // BININT LONG_BINGET
      case 'G':
        at_ += 8;
        break;  // BINFLOAT
      case 0x8A:
      case 0x8C:
        at_ += little_endian(1);
        break;  // LONG1 SHORT_BINUNICODE
      case 'X':
        at_ += little_endian(4);
        break;  // BINUNICODE
      case '(':
        marks_.push_back(0);
        return;
      case 'e':
        largest_batch_ = std::max(largest_batch_, marks_.back());
        marks_.pop_back();
        return;
      case 'u':
        marks_.pop_back();
        return;
      default:
        break;
    }
    if (opcode == '}' && !marks_.empty()) ++marks_.back();
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::set<std::uint8_t> used_;
  std::vector<std::size_t> marks_;
  std::size_t largest_batch_ = 0;
};

TEST(SnapshotWriter, WritesWhatTheReaderReads) {
  const Snapshot snapshot = sample();
  EXPECT_EQ(test::snapshot_text(read_snapshot(snapshot_bytes(snapshot))),
            test::snapshot_text(snapshot));
}

TEST(SnapshotWriter, WritesRecordedSnapshotsThatReadTheSame) {
  for (const char* name : {"finetune", "linear_no_grad", "lm_forward_ctx128", "lm_forward_fp32",
                           "lm_inference_ctx128"}) {
    const std::string path = test::recording_path(std::string("snapshots/") + name + ".pickle");
    const Snapshot snapshot = read_snapshot_file(path);
    const std::string bytes = snapshot_bytes(snapshot);
    EXPECT_EQ(test::snapshot_text(read_snapshot(bytes)), test::snapshot_text(snapshot)) << name;
    EXPECT_LT(bytes.size(), test::read_file(path).size()) << name;
  }
}

TEST(SnapshotWriter, UsesTheOpcodesThatTheViewerKnows) {
  const std::set<std::uint8_t> known = {
      0x80, 0x95, '.', '(', 'N',  0x88, 0x89, 'J', 'K', 'M', 0x8A, 'G', 'X', 0x8C, ']', '}',
      ')',  'l',  'd', 't', 0x85, 0x86, 0x87, 'a', 'e', 's', 'u',  'h', 'j', 'q',  'r', 0x94};
  Snapshot snapshot = sample();
  snapshot.device_traces[0].resize(2500, snapshot.device_traces[1].front());
  const std::string bytes = snapshot_bytes(snapshot);
  const Opcodes opcodes(bytes);
  for (const std::uint8_t opcode : opcodes.used()) {
    EXPECT_TRUE(known.count(opcode) == 1) << "opcode " << static_cast<int>(opcode);
  }
  EXPECT_EQ(opcodes.largest_batch(), 1000U);
  EXPECT_EQ(bytes.substr(0, 2), "\x80\x04");
}

// The viewer fails on a trace that has categories but none that is 'unknown'.
TEST(SnapshotWriter, LeavesCategoriesOutThatTheViewerWouldFailOn) {
  Snapshot snapshot;
  TraceDetails details;
  TraceEntry entry;
  details.set(snapshot, entry, {0, snapshot.tables.intern("gradient"), kNoText, kNoText});
  snapshot.device_traces = {{entry}};
  EXPECT_EQ(snapshot_bytes(snapshot).find("category"), std::string::npos);

  TraceEntry segment;
  segment.action = EventAction::segment_alloc;
  details.set(snapshot, segment, {0, snapshot.tables.intern("unknown"), kNoText, kNoText});
  snapshot.device_traces[0].push_back(segment);
  EXPECT_NE(snapshot_bytes(snapshot).find("category"), std::string::npos);
}

TEST(SnapshotWriter, KeepsThePoolsOfEntriesWhereTheyAreThere) {
  constexpr PoolId kPool = {1LL << 40, 0};
  Snapshot snapshot;
  TraceDetails details;
  TraceEntry entry;
  details.set(snapshot, entry, {.pool = kPool});
  snapshot.device_traces = {{entry}};
  for (const bool has_later_keys : {false, true}) {
    snapshot.has_later_keys = has_later_keys;
    const Snapshot read = read_snapshot(snapshot_bytes(snapshot));
    const TraceEntry& again = read.device_traces.at(0).at(0);
    EXPECT_EQ(read.detail(again).pool, has_later_keys ? kPool : kNormalPool);
  }
}

TEST(SnapshotWriter, ReplacesBytesThatAreNotText) {
  Snapshot snapshot;
  StackTable& tables = snapshot.tables;
  snapshot.external_annotations = {{tables.intern("a\xFF"
                                                  "b\xC3"),
                                    tables.intern(std::string(300, 'x')), 0, 1}};
  const Snapshot read = read_snapshot(snapshot_bytes(snapshot));
  EXPECT_EQ(read.tables.text(read.external_annotations.at(0).name),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD");
  EXPECT_EQ(read.tables.text(read.external_annotations.at(0).stage), std::string(300, 'x'));
}

TEST(SnapshotWriter, LetsThroughWhatTheDestinationThrows) {
  EXPECT_THROW(write_snapshot(sample(), [](std::string_view) { throw std::runtime_error("full"); }),
               std::runtime_error);
}

}  // namespace
}  // namespace ohm
