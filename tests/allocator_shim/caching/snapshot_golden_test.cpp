// What the allocator holds at the end of a trace and what it did, against the snapshots that
// PyTorch 2.6.0 took there: every address, every stale requested size, every event.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "allocator_shim/caching/trace_runner.h"
#include "tests/support/checkout_paths.h"

namespace ohm {
namespace {

using nlohmann::json;

/// PyTorch's handle of the n-th stream in the recordings.
std::uint64_t handle_of(StreamId stream) { return std::uint64_t{stream} * 0x100; }

json json_of(const BlockView& block) {
  return {{"address", block.address},
          {"size", block.bytes},
          {"requested_size", block.requested_bytes},
          {"state", name_of(block.state)},
          {"frames", json::array()}};
}

json json_of(const SegmentView& segment) {
  std::size_t allocated = 0;
  std::size_t active = 0;
  std::size_t requested = 0;
  json blocks = json::array();
  for (const BlockView& block : segment.blocks) {
    blocks.push_back(json_of(block));
    if (block.state == BlockView::State::active_allocated) allocated += block.bytes;
    if (block.state == BlockView::State::inactive) continue;
    active += block.bytes;
    requested += block.requested_bytes;
  }
  return {{"device", 0},
          {"address", segment.address},
          {"total_size", segment.bytes},
          {"allocated_size", allocated},
          {"active_size", active},
          {"requested_size", requested},
          {"stream", handle_of(segment.stream)},
          {"segment_type", segment.is_small ? "small" : "large"},
          {"segment_pool_id", {0, 0}},
          {"is_expandable", segment.is_expandable},
          {"frames", json::array()},
          {"blocks", blocks}};
}

json json_of(const MemoryEvent& event) {
  const char* const address_key = event.action == EventAction::oom ? "device_free" : "addr";
  return {{"action", name_of(event.action)},
          {address_key, event.address},
          {"size", event.bytes},
          {"stream", handle_of(event.stream)},
          {"time_us", 0}};
}

class GoldenSnapshot : public testing::TestWithParam<const char*> {};

TEST_P(GoldenSnapshot, HoldsWhatPyTorchHeld) {
  const std::filesystem::path folder = std::filesystem::path(OHM_RECORDINGS_DIR) / "allocator";
  std::ifstream trace_file(folder / (std::string(GetParam()) + ".trace"));
  const std::string text(std::istreambuf_iterator<char>(trace_file), {});
  std::ifstream snapshot_file(folder / (std::string(GetParam()) + ".snapshot.json"));
  const json snapshot = json::parse(snapshot_file);

  const Trace trace = parse_trace(text);
  TraceRunOptions options;
  options.rules = find_rule_set("pytorch-2.6");
  TraceRunner runner(trace, options);
  for (const TraceOperation& operation : trace.operations) runner.run(operation);

  const std::vector<SegmentView> segments = runner.allocator().segments();
  ASSERT_EQ(segments.size(), snapshot["segments"].size());
  for (std::size_t i = 0; i < segments.size(); ++i) {
    EXPECT_EQ(json_of(segments[i]), snapshot["segments"][i]) << "segment " << i;
  }
  const json& events = snapshot["device_traces"][0];
  ASSERT_EQ(runner.events().size(), events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    ASSERT_EQ(json_of(runner.events()[i]), events[i]) << "event " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(AllSnapshots, GoldenSnapshot,
                         testing::Values("snap_expandable", "snap_maxsplit", "snap_plain",
                                         "snap_roundup", "snap_streams"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace ohm
