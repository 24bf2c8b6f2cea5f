#include "harness/gate/baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "harness/gate/baseline_check.h"
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
  EXPECT_TRUE(text.starts_with("ohm.baseline/2\n"));
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

TEST(Baseline, AnotherRuleOfTheComparisonIsARegression) {
  ScenarioResult after = scenario();
  after.variants[0].comparison = "as bfloat16";
  const BaselineCheck check = check_first(scenario(), after);
  EXPECT_EQ(State::regressed, check.state);
  EXPECT_EQ("the comparison was of all values as they are, is as bfloat16", check.reason);
  EXPECT_EQ("the comparison was as bfloat16, is of all values as they are",
            check_first(after, scenario()).reason);
}

TEST(Baseline, TellsWhichVariantsTheScenarioDoesNotHave) {
  const Baseline baseline = baseline_of(scenario(), 0);
  std::vector<std::string> names;
  for (const auto& [name, variant] : baseline.variants) names.push_back(name);
  EXPECT_TRUE(gone_variants(baseline, names).empty());
  const std::string first = names.front();
  names.erase(names.begin());
  names.emplace_back("a_new_one");
  const std::vector<BaselineCheck> gone = gone_variants(baseline, names);
  ASSERT_EQ(1U, gone.size());
  EXPECT_EQ(State::gone, gone[0].state);
  EXPECT_EQ(first, gone[0].variant);
}

// ---- what is not an amount of a device's memory -------------------------------------------------

ValueResult value(const std::string& name, double norm) {
  ValueResult result;
  result.name = name;
  result.dtype = "float32";
  result.shape = {2, 3};
  result.norm = norm;
  result.projection = -norm / 2;
  return result;
}

TEST(Baseline, AnotherValueIsARegression) {
  ScenarioResult before = scenario();
  before.variants[0].values = {value("loss", 2)};
  const auto state_of = [&](const ValueResult& after) {
    ScenarioResult changed = before;
    changed.variants[0].values = {after};
    return check_first(before, changed);
  };
  EXPECT_EQ(State::equal, state_of(value("loss", 2)).state);
  // What another processor rounds otherwise is the same value.
  EXPECT_EQ(State::equal, state_of(value("loss", 2.00001)).state);
  EXPECT_EQ("loss: norm 2.01 instead of 2", state_of(value("loss", 2.01)).reason);
  EXPECT_EQ(State::regressed, state_of(value("loss", 2.01)).state);
  EXPECT_EQ("loss: not returned, gain: was not returned", state_of(value("gain", 2)).reason);
  ValueResult other = value("loss", 2);
  other.projection = 1;
  EXPECT_EQ("loss: projection 1 instead of -1", state_of(other).reason);
  other = value("loss", 2);
  other.dtype = "bfloat16";
  EXPECT_EQ("loss: dtype bfloat16 instead of float32", state_of(other).reason);
  other = value("loss", 2);
  other.shape = {6};
  EXPECT_EQ("loss: shape [6] instead of [2, 3]", state_of(other).reason);
  other = value("loss", 2);
  other.non_finite = 1;
  EXPECT_EQ("loss: non-finite elements 1 instead of 0", state_of(other).reason);
}

TEST(Baseline, NamesOfValuesCanBeAnything) {
  ScenarioResult before = scenario();
  ValueResult odd = value("a \"b\"\nvariant c", 2);
  odd.digest = "0123456789abcdef";
  odd.norm.reset();
  odd.projection.reset();
  before.variants[0].values = {odd};
  EXPECT_EQ(State::equal, check_first(before, before).state);
  ScenarioResult after = before;
  after.variants[0].values[0].digest = "7";
  EXPECT_THAT(check_first(before, after).reason, HasSubstr("digest 7 instead of 0123456789abcdef"));
}

TEST(Baseline, AnotherLimitIsARegression) {
  ScenarioResult after = scenario();
  ASSERT_FALSE(after.variants[0].limits.empty());
  const std::string limit = after.variants[0].limits[0].limit;
  after.variants[0].limits[0].limit = limit + " + 512";
  const BaselineCheck check = check_first(scenario(), after);
  EXPECT_EQ(State::regressed, check.state);
  EXPECT_THAT(check.reason, HasSubstr(limit + " + 512"));
}

TEST(Baseline, HostAndPinnedBytesAreFigures) {
  ScenarioResult before = scenario();
  before.variants[0].host = HostResult{4096, 0, 512, 0};
  ScenarioResult after = before;
  after.variants[0].host->peak_allocated_bytes += 1;
  EXPECT_EQ("peak_host_bytes +1", check_first(before, after).reason);
  EXPECT_EQ(State::regressed, check_first(before, after).state);
  EXPECT_EQ(State::improved, check_first(after, before).state);
  after = before;
  after.variants[0].host->pinned_bytes += 512;
  EXPECT_EQ("pinned_host_bytes +512", check_first(before, after).reason);
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
  const std::string head = "ohm.baseline/2\nvariant a\n";
  EXPECT_EQ("line 0: is empty", refusal(""));
  EXPECT_EQ("line 1: it has no variant", refusal("ohm.baseline/2\n"));
  EXPECT_EQ("line 1: a baseline begins with ohm.baseline/2", refusal("variant a\n"));
  EXPECT_EQ("line 1: its format is ohm.baseline/9, this program reads ohm.baseline/2",
            refusal("ohm.baseline/9\n"));
  EXPECT_EQ("line 2: figures before the first variant", refusal("ohm.baseline/2\n  steps 3\n"));
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
  EXPECT_EQ("line 2: expected \"variant NAME\"", refusal("ohm.baseline/2\nvariants a\n"));
}

}  // namespace
}  // namespace ohm::engine
