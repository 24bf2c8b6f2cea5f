// Which calls of a program a sweep makes fail.
#include "harness/sweep/point_choice.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ohm::engine {
namespace {

/// A call at the point of each letter.
RecordedCalls calls_of(const std::string& letters) {
  RecordedCalls calls;
  for (const char letter : letters) {
    calls.points.push_back(static_cast<std::uint64_t>(letter));
    calls.kinds.push_back(1);
    calls.bytes.push_back(512);
    calls.can_be_copied.push_back(1);
  }
  return calls;
}

std::vector<std::size_t> chosen_calls(const RecordedCalls& calls, const std::string& choice) {
  std::vector<std::size_t> chosen;
  const ChosenFaults faults =
      chosen_faults(calls, parse_point_choice(choice), {FaultForm::transient});
  for (const FaultTask& task : faults.tasks) chosen.push_back(task.call);
  return chosen;
}

using Calls = std::vector<std::size_t>;

TEST(PointChoice, SpreadTakesTheFirstAMiddleAndTheLastPass) {
  EXPECT_EQ(chosen_calls(calls_of("x"), "spread"), Calls({0}));
  EXPECT_EQ(chosen_calls(calls_of("xx"), "spread"), Calls({0, 1}));
  EXPECT_EQ(chosen_calls(calls_of("xxx"), "spread"), Calls({0, 1, 2}));
  EXPECT_EQ(chosen_calls(calls_of("axxxxxxbxa"), "spread"), Calls({0, 1, 4, 7, 8, 9}));
}

TEST(PointChoice, TheMiddlePassIsEvenWhereTheFirstAndTheLastAreOdd) {
  EXPECT_EQ(chosen_calls(calls_of("xxxxx"), "spread"), Calls({0, 1, 4}));
  EXPECT_EQ(chosen_calls(calls_of("xxxxxxx"), "spread"), Calls({0, 3, 6}));
  EXPECT_EQ(chosen_calls(calls_of("xxxxxxxxx"), "spread"), Calls({0, 3, 8}));
}

TEST(PointChoice, TheOthersTakeWhatTheyAlwaysTook) {
  EXPECT_EQ(chosen_calls(calls_of("axxbxx"), "unique"), Calls({0, 1, 3}));
  EXPECT_EQ(chosen_calls(calls_of("axxbxx"), "all"), Calls({0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(chosen_calls(calls_of("axxbxx"), "sample=2"), Calls({2, 5}));
}

TEST(PointChoice, SpreadTriesBothFormsAndTheOthersOne) {
  EXPECT_EQ(parse_point_choice("spread").forms(),
            (std::vector<FaultForm>{FaultForm::transient, FaultForm::persistent}));
  EXPECT_EQ(parse_point_choice("unique").forms(), std::vector<FaultForm>{FaultForm::transient});
}

/// Points that are passed three times each, one after the other in each of three rounds.
RecordedCalls three_rounds(int points) {
  RecordedCalls calls;
  for (int round = 0; round < 3; ++round) {
    for (int point = 0; point < points; ++point) {
      calls.points.push_back(static_cast<std::uint64_t>(point) + 1);
      calls.kinds.push_back(1);
      calls.bytes.push_back(512);
      calls.can_be_copied.push_back(1);
    }
  }
  return calls;
}

TEST(PointChoice, SpreadSpendsNoMoreThanTheFirstPassesTake) {
  const RecordedCalls calls = three_rounds(400);
  const std::vector<std::size_t> chosen = chosen_calls(calls, "spread");
  const auto cost = [&](std::size_t call) { return 200 + calls.size() - call; };
  std::size_t first = 0;
  std::size_t others = 0;
  std::size_t last = 0;
  for (const std::size_t call : chosen) {
    (call < 400 ? first : others) += cost(call);
    last += call >= 800 ? 1 : 0;
  }
  EXPECT_LE(others, first);
  EXPECT_EQ(last, 400U);  // all of the last ones before any of the middle ones
  EXPECT_GT(chosen.size(), 800U);
  EXPECT_LT(chosen.size(), 1200U);
  const ChosenFaults faults =
      chosen_faults(calls, parse_point_choice("spread"), {FaultForm::transient});
  EXPECT_EQ(faults.beyond_budget, 1200 - chosen.size());
}

TEST(PointChoice, ACallThatNoCopyCanBeMadeOfCostsTheWholeRun) {
  RecordedCalls calls = three_rounds(400);
  for (std::size_t call = 800; call < 1200; ++call) calls.can_be_copied[call] = 0;
  std::size_t last = 0;
  for (const std::size_t call : chosen_calls(calls, "spread")) last += call >= 800 ? 1 : 0;
  EXPECT_LT(last, 400U);
}

TEST(PointChoice, AFailureForGoodCostsNothingButWhereNoCopyCanBeMade) {
  RecordedCalls calls = three_rounds(400);
  const auto failures_for_good = [&] {
    const ChosenFaults faults =
        chosen_faults(calls, parse_point_choice("spread"), parse_point_choice("spread").forms());
    std::size_t count = 0;
    for (const FaultTask& task : faults.tasks) count += task.form == FaultForm::persistent ? 1 : 0;
    return count;
  };
  EXPECT_EQ(failures_for_good(), 1200U);
  calls.can_be_copied.assign(calls.size(), 0);
  EXPECT_EQ(failures_for_good(), 0U);
}

}  // namespace
}  // namespace ohm::engine
