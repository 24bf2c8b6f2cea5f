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
      recorded_calls(snapshot_with("ohm record call 3 9 40,30,30 1,2 - 1 Net.blocks.0"));
  ASSERT_EQ(calls.size(), 1U);
  const RecordedCall& call = calls.front();
  EXPECT_EQ(call.path, "Net.blocks.0");
  EXPECT_EQ(call.begin, 3U);
  EXPECT_EQ(call.end, 9U);
  EXPECT_EQ(call.nodes, (std::vector<std::uint32_t>{30, 30, 40}));
  EXPECT_EQ(call.inputs, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_TRUE(call.outputs.empty());
  EXPECT_TRUE(call.casts);
}

TEST(RecordedCalls, PassOverWhatNoRecorderWrites) {
  for (const char* const words :
       {"", "3 9", "3 9 40 - - 0", "3 9 40 - - 0 ", "9 3 40 - - 0 Net", "3 9 5 - - 0 Net",
        "3 101 - - - 0 Net", "3 9 40,x - - 0 Net", "3 9 40, - - 2 Net", "-1 9 40 - - 0 Net",
        "3 99999999999999999999 40 - - 0 Net"}) {
    EXPECT_TRUE(recorded_calls(snapshot_with(std::string("ohm record call ") + words)).empty())
        << words;
  }
  EXPECT_TRUE(recorded_calls(snapshot_with("ohm record call 3 9 40 - - 0 Net", 1)).empty());
  EXPECT_TRUE(recorded_calls(snapshot_with("ohm record call 3 9 40 - - 0 Net", -1)).empty());
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
