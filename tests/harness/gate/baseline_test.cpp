#include "harness/gate/baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/reports/sample_result.h"

namespace ohm::engine {
namespace {

using State = BaselineCheck::State;
using ::testing::HasSubstr;

ScenarioResult scenario() { return test::sample_scenario(); }

Baseline round_trip(const ScenarioResult& scenario) {
  return parse_baseline(baseline_text(baseline_of(scenario, 0), scenario.file), scenario.file);
}

BaselineCheck check_first(const ScenarioResult& before, const ScenarioResult& after,
                          std::uint64_t seed = 0) {
  return check_baseline(round_trip(before), after, seed).at(0);
}

DeviceResult& device(ScenarioResult& scenario) { return scenario.variants[0].devices[0]; }

TEST(Baseline, StandsBesideItsScenario) {
  EXPECT_EQ("scenarios/x.baseline", baseline_path("scenarios/x.lua"));
}

TEST(Baseline, IsTheSameTextAfterAReading) {
  const std::string text = baseline_text(baseline_of(scenario(), 0), test::kSampleFile);
  EXPECT_EQ(text, baseline_text(parse_baseline(text, test::kSampleFile), test::kSampleFile));
  EXPECT_TRUE(text.starts_with("ohm.baseline/1\n"));
}

TEST(Baseline, EqualFiguresAreEqual) {
  for (const BaselineCheck& check : check_baseline(round_trip(scenario()), scenario(), 0)) {
    EXPECT_EQ(State::equal, check.state) << check.variant << ": " << check.reason;
  }
}

TEST(Baseline, OneUnitOf512BytesIsARegressionOfItsLine) {
  ScenarioResult after = scenario();
  device(after).peak_allocated_bytes += 512;
  device(after).peak->holders[0].bytes += 512;
  const BaselineCheck check = check_first(scenario(), after);
  EXPECT_EQ(State::regressed, check.state);
  EXPECT_EQ(
      "cuda:0 peak_allocated_bytes +512; at the peak: +512 B: activation of linear, "
      "scenarios/leaked_loss_graph.lua:8 (50.00 MiB → 50.00 MiB)",
      check.reason);
}

TEST(Baseline, LinesThatMoveAreNoRegression) {
  ScenarioResult after = scenario();
  for (HolderResult& holder : device(after).peak->holders) holder.line += 100;
  EXPECT_EQ(State::equal, check_first(scenario(), after).state);
}

TEST(Baseline, LessIsAnImprovement) {
  ScenarioResult after = scenario();
  device(after).peak_reserved_bytes -= 2'097'152;
  const BaselineCheck check = check_first(scenario(), after);
  EXPECT_EQ(State::improved, check.state);
  EXPECT_THAT(check.reason, HasSubstr("cuda:0 peak_reserved_bytes -2,097,152"));
}

TEST(Baseline, LessHereAndMoreThereIsARegression) {
  ScenarioResult after = scenario();
  device(after).peak_reserved_bytes -= 2'097'152;
  device(after).num_device_alloc += 1;
  EXPECT_EQ(State::regressed, check_first(scenario(), after).state);
}

TEST(Baseline, AnotherEndOrNumberOfStepsIsARegression) {
  ScenarioResult after = scenario();
  after.variants[0].outcome = Outcome::completed;
  EXPECT_EQ(State::regressed, check_first(scenario(), after).state);
  after = scenario();
  after.variants[0].steps -= 1;
  EXPECT_EQ(State::regressed, check_first(scenario(), after).state);
}

TEST(Baseline, AnotherMachineIsIncomparable) {
  for (const auto& change :
       {+[](DeviceResult& one) { one.rules = "pytorch-2.10"; },
        +[](DeviceResult& one) { one.alloc_conf = "expandable_segments:True"; },
        +[](DeviceResult& one) { one.profile = "t4-16g"; },
        +[](DeviceResult& one) { one.values = false; },
        +[](DeviceResult& one) { one.capacity_bytes += 1; }}) {
    ScenarioResult after = scenario();
    change(device(after));
    EXPECT_EQ(State::incomparable, check_first(scenario(), after).state);
  }
  EXPECT_EQ(State::incomparable, check_first(scenario(), scenario(), /*seed=*/1).state);
}

TEST(Baseline, AVariantThatItDoesNotHaveIsMissing) {
  ScenarioResult after = scenario();
  after.variants[0].name = "new";
  EXPECT_EQ(State::missing, check_first(scenario(), after).state);
}

TEST(Baseline, WhatIsEditedIntoNonsenseIsRefusedWithItsLine) {
  const auto refusal = [](const std::string& text) {
    try {
      parse_baseline(text, "x.baseline");
    } catch (const BaselineError& error) {
      const std::string what = error.what();
      return what.substr(0, what.find("; ohm baseline update"));
    }
    return std::string("none");
  };
  const std::string head = "ohm.baseline/1\nvariant a\n";
  EXPECT_EQ("line 0: is empty", refusal(""));
  EXPECT_EQ("line 1: it has no variant", refusal("ohm.baseline/1\n"));
  EXPECT_EQ("line 1: a baseline begins with ohm.baseline/1", refusal("variant a\n"));
  EXPECT_EQ("line 1: its format is ohm.baseline/2, this program reads ohm.baseline/1",
            refusal("ohm.baseline/2\n"));
  EXPECT_EQ("line 2: figures before the first variant", refusal("ohm.baseline/1\n  steps 3\n"));
  EXPECT_EQ("line 3: a appears twice", refusal(head + "variant a\n"));
  EXPECT_EQ("line 3: \"few\" is not a figure", refusal(head + "  steps few\n"));
  EXPECT_EQ("line 3: \"-1\" is not a figure", refusal(head + "  steps -1\n"));
  EXPECT_EQ("line 3: \"12x\" is not a figure", refusal(head + "  cuda:0 num_ooms 12x\n"));
  EXPECT_EQ("line 3: \"peak\" is not a figure", refusal(head + "  cuda:0 peak 1\n"));
  EXPECT_EQ("line 3: \"tpu:0\" is not known", refusal(head + "  tpu:0 num_ooms 1\n"));
  EXPECT_EQ("line 3: \"perhaps\" is not an outcome", refusal(head + "  outcome perhaps\n"));
  EXPECT_EQ("line 3: \"fun\" is not a category", refusal(head + "  cuda:0 holds 1 in 1 fun []\n"));
  EXPECT_EQ("line 3: expected [\"op\", \"file\", \"text\"] at the end",
            refusal(head + "  cuda:0 holds 1 in 1 other [1, 2, 3]\n"));
  EXPECT_EQ("line 2: expected \"variant NAME\"", refusal("ohm.baseline/1\nvariants a\n"));
}

}  // namespace
}  // namespace ohm::engine
