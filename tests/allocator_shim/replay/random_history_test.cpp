// Histories of seeded random programs, begun at any time and cut by ring buffers of any size: the
// replay must find the state that each began in and agree with every event.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "allocator_shim/replay/verified_history.h"
#include "tests/support/random_program.h"

namespace ohm {
namespace {

std::string text_of(const VerifiedHistory& verified) {
  if (!verified.disagreement()) return "";
  std::string text = verified.disagreement()->summary;
  for (const std::string& line : verified.disagreement()->details) text += "\n  " + line;
  return text;
}

bool allocates(const std::vector<MemoryEvent>& events) {
  return std::any_of(events.begin(), events.end(),
                     [](const MemoryEvent& event) { return event.action == EventAction::alloc; });
}

class RandomHistory : public testing::TestWithParam<std::size_t> {};

TEST_P(RandomHistory, IsReplayedEventByEvent) {
  constexpr std::uint64_t kSeeds = 12;
  const test::RandomProgram& program = test::random_programs()[GetParam()];
  std::size_t replayed_events = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("settings \"" + program.settings + "\", seed " + std::to_string(seed));
    std::vector<DeviceHistory> histories =
        device_histories(test::random_snapshot(program, seed), default_rule_set());
    ASSERT_EQ(histories.size(), 1U);
    if (!allocates(histories[0].events)) continue;  // a ring buffer for hardly one event
    const VerifiedHistory verified(std::move(histories[0]), default_rule_set());
    ASSERT_EQ(text_of(verified), "");
    const ReplayCounts& counts = verified.counts();
    EXPECT_EQ(counts.events, verified.history().events.size() - verified.first_event());
    EXPECT_EQ(counts.allocations, counts.allocations_at_recorded_address);
    EXPECT_EQ(counts.segments, counts.segments_as_recorded);
    EXPECT_EQ(verified.peaks(), verified.recorded_peaks());
    replayed_events += counts.events;
  }
  EXPECT_GT(replayed_events, 2000U);
}

INSTANTIATE_TEST_SUITE_P(EveryProgram, RandomHistory,
                         testing::Range(std::size_t{0}, test::random_programs().size()));

}  // namespace
}  // namespace ohm
