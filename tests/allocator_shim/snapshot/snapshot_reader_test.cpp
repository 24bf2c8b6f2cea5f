// What Python's own pickle reads in recorded snapshots, ohm reads too, to the last field.
#include "allocator_shim/snapshot/snapshot_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/golden.h"
#include "tests/support/pickle_bytes.h"
#include "tests/support/snapshot_text.h"

namespace ohm {
namespace {

std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3U;
  return hash;
}

std::string figures(const std::string& name, const Snapshot& snapshot) {
  std::uint64_t segment_bytes = 0;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t blocks = 0;
  std::uint64_t requested_bytes = 0;
  for (const SnapshotSegment& segment : snapshot.segments) {
    segment_bytes += segment.bytes;
    allocated_bytes += segment.allocated_bytes;
    blocks += segment.blocks.size();
    for (const SnapshotBlock& block : segment.blocks) requested_bytes += block.requested_bytes;
  }
  std::map<std::string, int> actions;
  std::uint64_t entries = 0;
  std::uint64_t alloc_bytes = 0;
  std::uint64_t frames = 0;
  std::set<std::string> stacks;
  for (const auto& trace : snapshot.device_traces) {
    entries += trace.size();
    for (const TraceEntry& entry : trace) {
      ++actions[std::string(name_of(entry.action))];
      if (entry.action == EventAction::alloc) alloc_bytes += entry.bytes;
      frames += snapshot.tables.stack(entry.stack).size();
      stacks.insert(test::stack_text(snapshot, entry.stack));
    }
  }
  std::string out;
  const auto line = [&](const std::string& what, const auto& value) {
    out += fmt::format("{} {} {}\n", name, what, value);
  };
  line("segments", snapshot.segments.size());
  line("segment_bytes", segment_bytes);
  line("allocated_bytes", allocated_bytes);
  line("blocks", blocks);
  line("block_requested_bytes", requested_bytes);
  line("devices", snapshot.device_traces.size());
  line("entries", entries);
  for (const auto& [action, count] : actions) line("entries." + action, count);
  line("alloc_bytes", alloc_bytes);
  line("frames", frames);
  line("stacks", stacks.size());
  line("annotations", snapshot.external_annotations.size());
  const std::string text = test::snapshot_text(snapshot);
  line("text_bytes", text.size());
  line("digest", fmt::format("{:016x}", fnv1a(text)));
  return out;
}

TEST(SnapshotReader, ReadsRecordedSnapshotsAsPickleDoes) {
  std::istringstream golden(test::read_file(test::golden_path("snapshots/figures.txt")));
  std::string expected;
  std::getline(golden, expected);  // says what wrote the file
  expected.assign(std::istreambuf_iterator<char>(golden), {});

  std::set<std::filesystem::path> paths;
  for (const auto& file : std::filesystem::directory_iterator(test::recording_path("snapshots"))) {
    if (file.path().extension() == ".pickle") paths.insert(file.path());
  }
  ASSERT_EQ(paths.size(), 6U);
  std::string actual;
  for (const auto& path : paths) {
    actual += figures(path.filename().string(), read_snapshot_file(path.string()));
  }
  EXPECT_EQ(actual, expected);
}

// PyTorch's own frames of no known line: 2^64 - 1, as LONG1 of nine bytes.
TEST(SnapshotReader, TakesALineThatIsUnknownForNone) {
  const std::string bytes = test::Pickle()
                                .snapshot()
                                .traces()
                                .entry("alloc")
                                .text("addr")
                                .number(1)
                                .text("size")
                                .number(2)
                                .text("stream")
                                .number(0)
                                .text("frames")
                                .list()
                                .dict()
                                .text("filename")
                                .text("a.py")
                                .text("name")
                                .text("f")
                                .text("line")
                                .raw(std::string("\x8a\x09") + std::string(8, '\xff') + '\0')
                                .end_dict()
                                .end_list()
                                .end_dict()
                                .end()
                                .bytes();
  const Snapshot snapshot = read_snapshot(bytes);
  const auto stack = snapshot.tables.stack(snapshot.device_traces.at(0)[0].stack);
  ASSERT_EQ(stack.size(), 1U);
  EXPECT_EQ(snapshot.tables.frame(stack[0]).line, 0);
}

TEST(SnapshotReader, TakesSettingsThatSayNothing) {
  const std::string bytes = test::Pickle()
                                .snapshot()
                                .traces()
                                .end_list()
                                .end_list()
                                .text("allocator_settings")
                                .dict()
                                .end_dict()
                                .end_dict()
                                .raw(".")
                                .bytes();
  EXPECT_FALSE(read_snapshot(bytes).allocator_settings);
}

}  // namespace
}  // namespace ohm
