#include "reports/history/lines_of_blocks.h"

#include <gtest/gtest.h>

namespace ohm::reports {
namespace {

HistoryBlock block(std::uint32_t site, std::uint64_t bytes, std::uint32_t begin,
                   std::uint32_t end) {
  HistoryBlock one;
  one.site = site;
  one.bytes = bytes;
  one.begin = begin;
  one.end = end;
  return one;
}

/// Four steps that end at the events 10, 20, 30, 40; 50 is the end.
MemoryHistory history_of(std::vector<HistoryBlock> blocks) {
  MemoryHistory history;
  history.steps = {10, 20, 30, 40};
  history.events = 50;
  history.sites = {{"train.py", 3, "linear", "", 0},
                   {"train.py", 7, "zeros", "", 0},
                   {"train.py", 3, "relu", "", 0}};
  history.devices.resize(1);
  history.devices.front().blocks = std::move(blocks);
  return history;
}

TEST(LinesOfBlocks, GrowthIsWhatTheStepThatGrowsMostHasMore) {
  const MemoryHistory history = history_of({
      block(0, 4096, 1, 50),   // there from the start
      block(1, 1024, 15, 50),  // the second step warms up
      block(1, 512, 25, 50),   // the third grows by 512
      block(1, 1024, 35, 50),  // the fourth by as much as comes
      block(0, 2048, 36, 39),  // not there at its end
  });
  const auto lines = lines_of_growth(history, history.devices.front());
  ASSERT_EQ(1u, lines.size());
  EXPECT_EQ(7, lines.front().line);
  EXPECT_EQ(1024, lines.front().bytes);
  EXPECT_EQ(1, lines.front().count);
}

TEST(LinesOfBlocks, WhatIsReplacedHasNotGrown) {
  const MemoryHistory history = history_of({block(0, 512, 11, 25), block(0, 512, 25, 50)});
  EXPECT_TRUE(lines_of_growth(history, history.devices.front()).empty());
}

TEST(LinesOfBlocks, TheEndHasWhatIsNeverFreed) {
  const MemoryHistory history =
      history_of({block(0, 512, 1, 50), block(2, 1024, 2, 50), block(1, 4096, 3, 49)});
  const auto lines = lines_at_end(history, history.devices.front());
  ASSERT_EQ(1u, lines.size());
  EXPECT_EQ(1536, lines.front().bytes);
  EXPECT_EQ("relu", lines.front().op);  // of the largest part
}

TEST(LinesOfBlocks, GrowthCountsBehindTwoSteps) {
  EXPECT_EQ(std::nullopt, growth_per_step({{100, 900}}));
  EXPECT_EQ(100, growth_per_step({{100, 900, 1000}, {5, 5, 5}}));
  EXPECT_EQ(-100, growth_per_step({{100, 900, 800}}));
}

}  // namespace
}  // namespace ohm::reports
