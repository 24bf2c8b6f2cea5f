// Calls of modules as annotations of a snapshot tell them; what no recorder writes is passed over.
#include "harness/replay/recorded_calls.h"

#include <gtest/gtest.h>

#include <string>

namespace ohm::engine {
namespace {

Snapshot snapshot_with(const std::string& name, int device = 0) {
  Snapshot snapshot;
  snapshot.device_traces.resize(1);
  snapshot.device_traces[0].resize(100);
  SnapshotAnnotation annotation;
  annotation.name = snapshot.tables.intern(name);
  annotation.device = device;
  snapshot.external_annotations.push_back(annotation);
  return snapshot;
}

TEST(RecordedCalls, AreReadAsTheyAreWritten) {
  const auto calls =
      recorded_calls(snapshot_with("ohm record call 3 9 40r2,30n,35u 1,2 - 1 Net.blocks.0"));
  ASSERT_EQ(calls.size(), 1U);
  const RecordedCall& call = calls.front();
  EXPECT_EQ(call.path, "Net.blocks.0");
  EXPECT_EQ(call.begin, 3U);
  EXPECT_EQ(call.end, 9U);
  ASSERT_EQ(call.nodes.size(), 3U);
  using Saves = RecordedNode::Saves;
  EXPECT_EQ(call.nodes[0].event, 30U);
  EXPECT_EQ(call.nodes[0].saves, Saves::nothing);
  EXPECT_EQ(call.nodes[1].saves, Saves::maybe);
  EXPECT_TRUE(call.nodes[1].has_unknown_results);
  EXPECT_EQ(call.nodes[2].event, 40U);
  EXPECT_EQ(call.nodes[2].saves, Saves::something);
  EXPECT_EQ(call.nodes[2].results, 2U);
  EXPECT_EQ(call.inputs, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_TRUE(call.outputs.empty());
  EXPECT_TRUE(call.casts);
}

TEST(RecordedCalls, PassOverWhatNoRecorderWrites) {
  for (const char* const words :
       {"", "3 9", "3 9 40s - - 0", "3 9 40s - - 0 ", "9 3 40s - - 0 Net", "3 9 5s - - 0 Net",
        "3 101 - - - 0 Net", "3 9 40s,x - - 0 Net", "3 9 40s, - - 2 Net", "-1 9 40s - - 0 Net",
        "3 9 40 - - 0 Net", "3 9 40r - - 0 Net", "3 9 40s2 - - 0 Net", "3 9 s - - 0 Net",
        "3 99999999999999999999 40s - - 0 Net"}) {
    EXPECT_TRUE(recorded_calls(snapshot_with(std::string("ohm record call ") + words)).empty())
        << words;
  }
  EXPECT_TRUE(recorded_calls(snapshot_with("ohm record call 3 9 40s - - 0 Net", 1)).empty());
  EXPECT_TRUE(recorded_calls(snapshot_with("ohm record call 3 9 40s - - 0 Net", -1)).empty());
  EXPECT_TRUE(recorded_calls(snapshot_with("ohm record step 3")).empty());
}

TEST(RecordedCalls, AStarStandsForOnePart) {
  EXPECT_TRUE(is_module_of("GPT.blocks.3", "GPT.blocks.*"));
  EXPECT_TRUE(is_module_of("GPT.blocks.3.mlp", "GPT.*.3.mlp"));
  EXPECT_FALSE(is_module_of("GPT.blocks.3.mlp", "GPT.blocks.*"));
  EXPECT_FALSE(is_module_of("GPT.blocks", "GPT.blocks.*"));
  EXPECT_FALSE(is_module_of("GPT.blocks.3", "GPT.block.*"));
}

}  // namespace
}  // namespace ohm::engine
