// Other devices and settings: the answers are those of the runs themselves.
#include "allocator_shim/replay/what_if.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "allocator_shim/base/bytes.h"
#include "allocator_shim/replay/capacity_search.h"
#include "tests/support/random_program.h"
#include "tests/support/recorded_allocator.h"

namespace ohm {
namespace {

VerifiedHistory verified(const test::RecordedAllocator& recorded) {
  std::vector<DeviceHistory> histories = device_histories(recorded.snapshot(), default_rule_set());
  return {std::move(histories.at(0)), default_rule_set()};
}

WhatIf with(std::size_t capacity_bytes, const std::string& settings = "") {
  WhatIf what_if;
  what_if.capacity_bytes = capacity_bytes;
  what_if.settings = parse_settings(settings);
  return what_if;
}

TEST(WhatIf, ServesARequestThatFailedWhereThereIsRoomAndGivesItBack) {
  test::RecordedAllocator recorded(100_MiB);
  recorded.allocate(60_MiB);
  EXPECT_THROW(recorded.allocate(50_MiB), OutOfMemory);
  recorded.allocate(30_MiB);
  const VerifiedHistory history = verified(recorded);
  ASSERT_FALSE(history.disagreement());

  const WhatIfOutcome larger = run_elsewhere(history, with(110_MiB));
  EXPECT_TRUE(larger.fits());
  EXPECT_EQ(larger.rescued, 1U);
  EXPECT_EQ(larger.peak_reserved_bytes, 110_MiB);
  EXPECT_EQ(larger.retries, 0);

  const WhatIfOutcome smaller = run_elsewhere(history, with(108_MiB));
  ASSERT_FALSE(smaller.fits());
  EXPECT_EQ(smaller.failure->request, 2U);  // after a segment and its block
  EXPECT_EQ(smaller.failure->requested_bytes, 50_MiB);
  EXPECT_EQ(smaller.retries, 1);
  EXPECT_EQ(smaller.stranded_bytes, 0U);
}

/// Two blocks, one freed between them, the other at the end.
VerifiedHistory two_blocks(test::RecordedAllocator& recorded) {
  BlockHandle first = recorded.allocate(30_MiB);
  recorded.free(first);
  BlockHandle second = recorded.allocate(40_MiB);
  recorded.allocate(50_MiB);
  recorded.free(second);
  return verified(recorded);
}

TEST(WhatIf, AChangedProgramAsksForOtherSizes) {
  test::RecordedAllocator recorded(1_GiB);
  const VerifiedHistory history = two_blocks(recorded);
  ChangedProgram program;
  program.bytes = {60_MiB, 60_MiB, 20_MiB};
  const WhatIfOutcome outcome = run_elsewhere(history, with(1_GiB), program);
  EXPECT_EQ(outcome.peak_allocated_bytes, 80_MiB);
  EXPECT_EQ(outcome.peak_reserved_bytes, 80_MiB);  // the second is where the first was
  const WhatIfOutcome smaller = run_elsewhere(history, with(79_MiB), program);
  ASSERT_FALSE(smaller.fits());
  EXPECT_EQ(smaller.failure->requested_bytes, 20_MiB);
}

TEST(WhatIf, AChangedProgramFreesEarlierAndOnce) {
  test::RecordedAllocator recorded(1_GiB);
  const VerifiedHistory history = two_blocks(recorded);
  EXPECT_EQ(run_elsewhere(history, with(1_GiB)).peak_allocated_bytes, 90_MiB);
  ChangedProgram program;
  // Before the segment of the last request is asked for.
  const auto last = static_cast<std::uint32_t>(history.lives().lives[2].allocated_at - 1);
  program.early_frees = {{last, 1}};
  EXPECT_EQ(run_elsewhere(history, with(1_GiB), program).peak_allocated_bytes, 50_MiB);
}

TEST(WhatIf, AChangedProgramLeavesRequestsOutAndMakesOthers) {
  test::RecordedAllocator recorded(1_GiB);
  const VerifiedHistory history = two_blocks(recorded);
  ChangedProgram program;
  program.bytes = {0, 40_MiB, 0};
  EXPECT_EQ(run_elsewhere(history, with(1_GiB), program).peak_allocated_bytes, 40_MiB);
  program.bytes = {0, 0, 50_MiB};
  program.companions = {0, 20_MiB, 10_MiB};  // the second goes with its block, before the end
  EXPECT_EQ(run_elsewhere(history, with(1_GiB), program).peak_allocated_bytes, 80_MiB);
  const WhatIfOutcome smaller = run_elsewhere(history, with(25_MiB), program);
  ASSERT_FALSE(smaller.fits());
  EXPECT_EQ(smaller.failure->requested_bytes, 10_MiB);
}

TEST(WhatIf, AChangedProgramMayEndEarlier) {
  test::RecordedAllocator recorded(1_GiB);
  const VerifiedHistory history = two_blocks(recorded);
  ChangedProgram program;
  program.end = history.lives().lives[2].allocated_at - 1;
  EXPECT_EQ(run_elsewhere(history, with(1_GiB), program).peak_allocated_bytes, 40_MiB);
}

TEST(WhatIf, AChangedProgramRequestsBlocksAgain) {
  using Kind = ChangedProgram::Repeat::Kind;
  test::RecordedAllocator recorded(1_GiB);
  const VerifiedHistory history = two_blocks(recorded);
  const auto last = static_cast<std::uint32_t>(history.lives().lives[2].allocated_at - 1);
  const auto peak = [&](const std::vector<ChangedProgram::Repeat::Step>& steps) {
    ChangedProgram program;
    program.repeats = {{last, steps}};
    return run_elsewhere(history, with(1_GiB), program).peak_allocated_bytes;
  };
  EXPECT_EQ(peak({{0, Kind::keep}}), 120_MiB);
  EXPECT_EQ(peak({{0, Kind::take}, {2, Kind::take}}), 120_MiB);  // beside the second, and gone
  EXPECT_EQ(peak({{0, Kind::take}, {0, Kind::drop}, {2, Kind::take}}), 90_MiB);
  ChangedProgram program;
  program.repeats = {{last, {{0, Kind::keep}}}};
  const WhatIfOutcome smaller = run_elsewhere(history, with(69_MiB), program);
  ASSERT_FALSE(smaller.fits());
  EXPECT_EQ(smaller.failure->requested_bytes, 30_MiB);
}

TEST(WhatIf, AChangedProgramKeepsABlockLonger) {
  test::RecordedAllocator recorded(1_GiB);
  const VerifiedHistory history = two_blocks(recorded);
  const auto last = static_cast<std::uint32_t>(history.lives().lives[2].allocated_at - 1);
  ChangedProgram program;
  program.early_frees = {{last, 0}};
  program.kept_until = {last, 0, 0};
  EXPECT_EQ(run_elsewhere(history, with(1_GiB), program).peak_allocated_bytes, 90_MiB);
  program.end = last;
  EXPECT_EQ(run_elsewhere(history, with(1_GiB), program).peak_allocated_bytes, 70_MiB);
}

TEST(WhatIf, StrandedIsWhatWasReservedButNotActiveWhenARequestFailed) {
  test::RecordedAllocator recorded(1_GiB);
  BlockHandle first = recorded.allocate(4_MiB);
  recorded.allocate(4_MiB);
  recorded.free(first);
  recorded.allocate(30_MiB);
  const WhatIfOutcome outcome = run_elsewhere(verified(recorded), with(40_MiB));
  ASSERT_FALSE(outcome.fits());
  EXPECT_EQ(outcome.stranded_bytes, 16_MiB);  // of a segment of 20 MiB, 4 MiB are in use
}

TEST(WhatIf, BeginsWithTheStateOfTheRecord) {
  test::RecordedAllocator recorded(1_GiB);
  recorded.allocate(30_MiB);
  recorded.free(recorded.allocate(50_MiB));
  recorded.record();
  recorded.allocate(40_MiB);
  const VerifiedHistory history = verified(recorded);
  EXPECT_EQ(run_elsewhere(history, with(80_MiB)).retries, 0);
  const WhatIfOutcome smaller = run_elsewhere(history, with(70_MiB));
  EXPECT_TRUE(smaller.fits());
  EXPECT_EQ(smaller.retries, 1);  // the cached 50 MiB had to go before
  EXPECT_EQ(smaller.peak_reserved_bytes, 70_MiB);
  const WhatIfOutcome smallest = run_elsewhere(history, with(28_MiB));
  ASSERT_FALSE(smallest.fits());
  EXPECT_FALSE(smallest.failure->request);
}

TEST(WhatIf, EveryCapacityThatIsSaidToBeTheSameIs) {
  const test::RandomProgram& program = test::random_programs()[2];
  test::RandomRun run(program, 7);
  run.run(300);
  const VerifiedHistory history = verified(run.recorded());
  const WhatIfOutcome outcome = run_elsewhere(history, with(1_GiB));
  ASSERT_TRUE(outcome.same_from_bytes);
  const WhatIfOutcome same = run_elsewhere(history, with(*outcome.same_from_bytes));
  EXPECT_EQ(same.peak_reserved_bytes, outcome.peak_reserved_bytes);
  EXPECT_EQ(same.refusals, outcome.refusals);
  EXPECT_GT(run_elsewhere(history, with(*outcome.same_from_bytes - 2_MiB)).refusals, 0U);
}

struct BruteForce {
  std::optional<std::size_t> without_retry_bytes, with_retries_bytes, every_from_bytes;
};

/// Every capacity in steps of 2 MiB.
BruteForce try_all(const VerifiedHistory& history, const std::string& settings, std::size_t top) {
  BruteForce found;
  bool has_failed = false;
  for (std::size_t capacity = top; capacity >= 2_MiB; capacity -= 2_MiB) {
    const WhatIfOutcome outcome = run_elsewhere(history, with(capacity, settings));
    has_failed = has_failed || !outcome.fits();
    if (!outcome.fits()) continue;
    found.with_retries_bytes = capacity;
    if (!has_failed) found.every_from_bytes = capacity;
    if (outcome.refusals == 0) found.without_retry_bytes = capacity;
  }
  return found;
}

class SmallestCapacity : public testing::TestWithParam<const char*> {};

TEST_P(SmallestCapacity, IsTheOneThatTryingAllOfThemFinds) {
  const std::string settings = GetParam();
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::RandomRun run({"", 64_GiB, 1 + static_cast<StreamId>(seed % 2), false}, seed);
    run.run(seed * 20);
    run.recorded().record();
    run.run(60);
    const VerifiedHistory history = verified(run.recorded());
    ASSERT_FALSE(history.disagreement());
    const CapacitySearch found = find_smallest_capacity(
        [&](std::size_t capacity) { return run_elsewhere(history, with(capacity, settings)); },
        history.history().events.size());
    EXPECT_TRUE(found.is_certified);
    ASSERT_TRUE(found.without_retry_bytes);
    const BruteForce all = try_all(history, settings, *found.without_retry_bytes + 40_MiB);
    EXPECT_EQ(found.without_retry_bytes, all.without_retry_bytes);
    EXPECT_EQ(found.with_retries_bytes, all.with_retries_bytes);
    EXPECT_EQ(found.every_from_bytes, all.every_from_bytes);
    EXPECT_LT(found.runs, *found.without_retry_bytes / 2_MiB);
  }
}

INSTANTIATE_TEST_SUITE_P(EverySetting, SmallestCapacity,
                         testing::Values("", "max_split_size_mb:32", "expandable_segments:True",
                                         "roundup_power2_divisions:2"));

/// A device that a program fits into, but not into some that are larger.
WhatIfOutcome with_a_hole(std::size_t capacity) {
  WhatIfOutcome outcome;
  outcome.peak_requested_bytes = 20_MiB;
  outcome.same_from_bytes = std::min<std::size_t>(capacity, 100_MiB);
  const bool is_in_hole = capacity >= 60_MiB && capacity < 70_MiB;
  if (is_in_hole || capacity < 30_MiB) outcome.failure = WhatIfFailure{};
  if (capacity < 100_MiB) outcome.refusals = 1;
  return outcome;
}

TEST(SmallestCapacity, IsFoundBelowLargerOnesThatFail) {
  const CapacitySearch found = find_smallest_capacity(with_a_hole, 10);
  EXPECT_EQ(found.without_retry_bytes, 100_MiB);
  EXPECT_EQ(found.with_retries_bytes, 30_MiB);
  EXPECT_EQ(found.every_from_bytes, 70_MiB);
  EXPECT_TRUE(found.is_certified);
}

TEST(SmallestCapacity, SaysHowFarNothingWasLeftOutWhenRunsAreTooManyToTryAll) {
  const CapacitySearch found = find_smallest_capacity(with_a_hole, std::size_t{1} << 40U);
  EXPECT_FALSE(found.is_certified);
  EXPECT_EQ(found.checked_down_to_bytes, 62_MiB);  // 20 runs
  EXPECT_EQ(found.with_retries_bytes, 30_MiB);
  EXPECT_EQ(found.every_from_bytes, 70_MiB);
}

TEST(SmallestCapacity, IsUnknownWhereNoCapacityWillDo) {
  const CapacitySearch found = find_smallest_capacity(
      [](std::size_t) {
        WhatIfOutcome outcome;
        outcome.failure = WhatIfFailure{};
        return outcome;
      },
      10);
  EXPECT_FALSE(found.with_retries_bytes);
  EXPECT_FALSE(found.without_retry_bytes);
}

TEST(SmallestCapacity, IsBisectedWhereEachCapacityIsAnotherCase) {
  const CapacitySearch found = find_smallest_capacity(
      [](std::size_t capacity) {
        WhatIfOutcome outcome;
        outcome.peak_reserved_bytes = 64_MiB;
        if (capacity < 80_MiB) outcome.failure = WhatIfFailure{};
        outcome.retries = capacity < 120_MiB ? 1 : 0;
        return outcome;
      },
      10);
  EXPECT_EQ(found.with_retries_bytes, 80_MiB);
  EXPECT_EQ(found.without_retry_bytes, 120_MiB);
  EXPECT_FALSE(found.every_from_bytes);
  EXPECT_FALSE(found.is_certified);
}

}  // namespace
}  // namespace ohm
