#include "harness/fit/fit_search.h"

#include <gtest/gtest.h>

#include <functional>

namespace ohm::engine {
namespace {

constexpr std::int64_t kKiB = 1024;

/// A program whose peak is a function of the value, on a card of so many bytes.
Probes program(const std::function<std::int64_t(std::int64_t)>& peak, std::int64_t capacity) {
  return Probes([=](std::int64_t value) {
    Probe probe;
    const std::int64_t bytes = peak(value);
    if (bytes > capacity) {
      probe.stop = FitStop{value, FitStopKind::out_of_memory, "full", {}};
    } else {
      probe.point = FitPoint{value, bytes, bytes};
    }
    return probe;
  });
}

std::int64_t line(std::int64_t value) { return 100 * kKiB + 3 * kKiB * value; }

TEST(FitSearch, FindsTheLargestValueOfALineInFewRuns) {
  for (const std::int64_t answer : {1, 2, 3, 99, 4711, 65535}) {
    Probes probes = program(line, line(answer) + kKiB);
    const FitRange range{1, 65536, line(answer) + kKiB, {}, std::nullopt, {}};
    EXPECT_EQ(largest_that_fits(probes, range, FitRule::on_the_gpu), answer);
    EXPECT_LE(probes.all().size(), 8U) << answer;
  }
}

TEST(FitSearch, FindsItWithoutAGuide) {
  const auto steps = [](std::int64_t value) { return value <= 777 ? kKiB : 3 * kKiB; };
  Probes probes = program(steps, 2 * kKiB);
  EXPECT_EQ(largest_that_fits(probes, {1, 65536, 0, {}, std::nullopt, {}}, FitRule::on_the_gpu),
            777);
}

TEST(FitSearch, TwoRunsConfirmAForecastThatIsRight) {
  for (const std::int64_t answer : {1, 99, 65536}) {
    Probes probes = program(line, line(answer));
    FitRange range{1, 65536, 0, {}, std::nullopt, {}};
    range.forecast = [=](std::int64_t value) { return value <= answer; };
    EXPECT_EQ(largest_that_fits(probes, range, FitRule::on_the_gpu), answer);
    EXPECT_LE(probes.all().size(), 2U) << answer;
  }
}

TEST(FitSearch, AForecastThatIsWrongChangesNoAnswer) {
  for (const std::int64_t foreseen : {0, 1, 300, 65536}) {
    Probes probes = program(line, line(4711));
    FitRange range{1, 65536, line(4711), {}, std::nullopt, {}};
    range.forecast = [=](std::int64_t value) { return value <= foreseen; };
    EXPECT_EQ(largest_that_fits(probes, range, FitRule::on_the_gpu), 4711) << foreseen;
    EXPECT_LE(probes.all().size(), 40U) << foreseen;
  }
}

TEST(FitSearch, AForecastThatPromisesTooMuchAgainAndAgainCostsFewRuns) {
  // A program that pads to 64: two small values look alike, and say nothing of larger ones.
  const auto padded = [](std::int64_t value) { return line((value + 63) / 64 * 64); };
  constexpr std::int64_t kAnswer = 1792;
  Probes probes = program(padded, padded(kAnswer));
  for (const std::int64_t known : {4, 8}) probes.at(known);
  FitRange range{1, 4096, padded(kAnswer), {}, std::nullopt, {}};
  range.forecast = [&](std::int64_t value) {
    std::vector<FitPoint> points;
    for (const auto& [known, probe] : probes.all()) {
      if (probe.point) points.push_back(*probe.point);
    }
    const FitPoint& a = points[points.size() - 2];
    const FitPoint& b = points.back();
    return b.peak_allocated_bytes + (b.peak_allocated_bytes - a.peak_allocated_bytes) /
                                        (b.value - a.value) * (value - b.value) <=
           padded(kAnswer);
  };
  EXPECT_EQ(largest_that_fits(probes, range, FitRule::on_the_gpu), kAnswer);
  EXPECT_LE(probes.all().size(), 16U);
}

TEST(FitSearch, KnowsTheEndsOfTheRange) {
  Probes all = program(line, line(100));
  EXPECT_EQ(largest_that_fits(all, {1, 64, line(100), {}, std::nullopt, {}}, FitRule::on_the_gpu),
            64);
  EXPECT_EQ(largest_that_fits(all, {7, 7, line(100), {}, std::nullopt, {}}, FitRule::on_the_gpu),
            7);
  EXPECT_EQ(
      largest_that_fits(all, {101, 200, line(100), {}, std::nullopt, {}}, FitRule::on_the_gpu),
      std::nullopt);
}

TEST(FitSearch, HeedsLimitsWhenAsked) {
  Probes probes([](std::int64_t value) {
    Probe probe;
    probe.point = FitPoint{value, line(value), line(value)};
    if (value > 512) probe.broken = FitStop{value, FitStopKind::limit, "too much", {}};
    return probe;
  });
  const FitRange range{1, 65536, line(1 << 20), {}, std::nullopt, {}};
  EXPECT_EQ(largest_that_fits(probes, range, FitRule::on_the_gpu), 65536);
  EXPECT_EQ(largest_that_fits(probes, range, FitRule::within_limits), 512);
}

TEST(FitSearch, FollowsTheLineOfWhatALimitMeasures) {
  for (const std::int64_t answer : {1, 500, 9000}) {
    Probes probes([=](std::int64_t value) {
      Probe probe;
      probe.point = FitPoint{value, line(value), line(value)};
      if (value <= answer) return probe;
      LimitResult limit;
      limit.limit = "peak_allocated_bytes <= B";
      limit.measured = static_cast<double>(line(value));
      limit.bound = static_cast<double>(line(answer));
      limit.holds = false;
      probe.broken = FitStop{value, FitStopKind::limit, "too much", limit};
      return probe;
    });
    const FitRange range{1, 65536, line(1 << 20), {}, std::nullopt, {}};
    for (const std::int64_t value : {30000, 65536}) probes.at(value);
    EXPECT_EQ(largest_that_fits(probes, range, FitRule::within_limits), answer);
    EXPECT_LE(probes.all().size(), 5U) << answer;
  }
}

TEST(FitSearch, LooksAroundAGuessOfALimitFirst) {
  for (const std::int64_t answer : {993, 999, 1000, 1003, 1012}) {
    Probes probes([=](std::int64_t value) {
      Probe probe;
      probe.point = FitPoint{value, line(value), line(value)};
      if (value > answer) probe.broken = FitStop{value, FitStopKind::limit, "too much", {}};
      return probe;
    });
    FitRange range{1, 65536, line(1 << 20), {}, std::nullopt, {}};
    range.guess = 1000;
    EXPECT_EQ(largest_that_fits(probes, range, FitRule::within_limits), answer);
    EXPECT_LE(probes.all().size(), 12U) << answer;
  }
}

TEST(FitSearch, AnswersBelowAHoleThatItSees) {
  // 40 takes more than 41 to 50 do: the answer is 39, whatever else fits.
  const auto with_a_hole = [](std::int64_t value) { return value == 40 ? line(90) : line(value); };
  Probes probes = program(with_a_hole, line(41));
  EXPECT_EQ(safely_fits(probes, {1, 1000, line(41), {}, std::nullopt, {}}), 39);
  EXPECT_TRUE(probes.fits(41, FitRule::on_the_gpu));
}

TEST(FitLine, IsExactWhereThePeakIsALine) {
  Probes probes = program(line, line(1000));
  for (const std::int64_t value : {1, 10, 100, 1000}) probes.at(value);
  const std::optional<FitLine> found = line_through(probes, 1000);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->is_line);
  EXPECT_EQ(found->bytes_per_unit, 3 * kKiB);
  EXPECT_EQ(found->fixed_bytes, 100 * kKiB);
  EXPECT_EQ(found->from_value, 1);
  EXPECT_EQ(found->checked_values, 4);
  EXPECT_EQ(found->largest_deviation_bytes, 0);
}

TEST(FitLine, BeginsWhereAnotherMomentIsNoLongerThePeak) {
  const auto bent = [](std::int64_t value) { return std::max(line(100), line(value)); };
  Probes probes = program(bent, line(1000));
  for (const std::int64_t value : {1, 50, 150, 500, 800, 1000}) probes.at(value);
  const std::optional<FitLine> found = line_through(probes, 1000);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->is_line);
  EXPECT_EQ(found->from_value, 150);
  EXPECT_EQ(found->bytes_per_unit, 3 * kKiB);
}

TEST(FitLine, SaysWhenThereIsNone) {
  const auto square = [](std::int64_t value) { return value * value; };
  Probes probes = program(square, 1 << 30);
  for (const std::int64_t value : {1, 100, 200, 300, 400}) probes.at(value);
  const std::optional<FitLine> found = line_through(probes, 400);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->is_line);
  EXPECT_GT(found->largest_deviation_bytes, 0);
  EXPECT_EQ(line_through(program(square, 1), 1), std::nullopt);
}

}  // namespace
}  // namespace ohm::engine
