// Histories of seeded random programs, begun at any time and cut by ring buffers of any size: the
// replay must find the state that each began in and agree with every event, or say why it cannot.
#include <gtest/gtest.h>

#include <string>

#include "allocator_shim/replay/verified_history.h"
#include "tests/support/random_program.h"

namespace ohm {
namespace {

std::string text_of(const VerifiedHistory& verified) {
  if (!verified.disagreement()) return "agrees";
  std::string text = verified.disagreement()->summary;
  for (const std::string& line : verified.disagreement()->details) text += "\n  " + line;
  return text;
}

class RandomHistory : public testing::TestWithParam<std::size_t> {};

TEST_P(RandomHistory, IsReplayedEventByEvent) {
  const std::uint64_t seeds = std::getenv("SEEDS") ? std::stoul(std::getenv("SEEDS")) : 40;
  const test::RandomProgram& program = test::random_programs()[GetParam()];
  std::size_t bad = 0, open = 0, narrowed = 0, known = 0, given=0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    std::mt19937_64 random(seed * 7919);
    test::RandomRun run(program, seed);
    run.run(random() % 400);
    run.record(1 + random() % (random() % 2 == 0 ? 200 : 2000));
    run.run(1 + random() % 500);
    const Snapshot snapshot = run.snapshot();
    if (snapshot.device_traces[0].empty()) continue;
    SCOPED_TRACE("settings \"" + program.settings + "\", seed " + std::to_string(seed));
    try {
      std::vector<DeviceHistory> histories = device_histories(snapshot, default_rule_set());
      ASSERT_EQ(histories.size(), 1U);
      const VerifiedHistory verified(std::move(histories[0]), default_rule_set());
      if (verified.disagreement()) { ++bad; if (bad <= 3)
        ADD_FAILURE() << text_of(verified) << " of " << snapshot.device_traces[0].size();
      continue; }
      open += verified.start().open_blocks; known += verified.start().known_blocks; narrowed += verified.start().narrowed_blocks;
      given += verified.given_releases();
      EXPECT_EQ(verified.counts().allocations, verified.counts().allocations_at_recorded_address);
      EXPECT_EQ(verified.peaks(), verified.recorded_peaks());
    } catch (const HistoryError& error) {
      EXPECT_EQ(error.kind(), HistoryError::Kind::insufficient);
      if (snapshot.device_traces[0].size() > 20) ADD_FAILURE() << error.what();
    }
  }
  printf("%zu of %lu bad; open %zu known %zu narrowed %zu given %zu\n", bad, seeds, open, known, narrowed, given);
}

INSTANTIATE_TEST_SUITE_P(EveryProgram, RandomHistory,
                         testing::Range(std::size_t{0}, test::random_programs().size()));

}  // namespace
}  // namespace ohm
