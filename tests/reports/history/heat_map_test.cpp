// Sweeps as heat maps.
#include "reports/history/heat_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/html/html_heat_map.h"
#include "reports/html/sweep_page.h"
#include "reports/json/result_reader.h"
#include "reports/json/sweep_reader.h"

namespace ohm::reports {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kSweep = R"({"schema": "ohm.sweep/1", "scenarios": [
  {"name": "x", "file": "x.lua", "variants": [{"name": "item",
    "verdicts": {"clean_error": 4, "leak": 2, "crash": 0, "hang": 1},
    "points": [
      {"point": "ohm:aa", "op": "relu", "file": "x.lua", "line": 3, "faults": 5},
      {"point": "ohm:bb", "op": "", "file": "x.lua", "line": 4, "faults": 2},
      {"point": "ohm:cc", "op": "add", "file": "x.lua", "line": 5, "faults": 0}],
    "failed": [
      {"plan": "ohm:aa@1", "verdict": "leak"}, {"plan": "ohm:aa@2", "verdict": "leak"},
      {"plan": "ohm:bb@1", "verdict": "hang"}]}]}]})";

TEST(HeatMap, CountsVerdictsAtEachPoint) {
  RunResult result;
  add_heat_maps(read_sweep(kSweep), result);
  ASSERT_EQ(1U, result.scenarios.size());
  EXPECT_EQ("x", result.scenarios[0].name);
  const HeatMapResult& map = result.scenarios[0].heat_maps.at(0);
  EXPECT_THAT(map.columns, ElementsAre("good", "leak", "hang"));
  ASSERT_EQ(2U, map.rows.size());  // where nothing failed there is nothing to see
  EXPECT_THAT(map.rows[0].counts, ElementsAre(3, 2, 0));
  EXPECT_THAT(map.rows[1].counts, ElementsAre(1, 0, 1));
}

TEST(HeatMap, StandsWithTheScenarioOfItsName) {
  RunResult result;
  result.scenarios.emplace_back().name = "x";
  add_heat_maps(read_sweep(kSweep), result);
  ASSERT_EQ(1U, result.scenarios.size());
  const std::string page = html_heat_maps(result.scenarios[0]);
  EXPECT_THAT(page, HasSubstr("data-point=\"ohm:aa\""));
  EXPECT_THAT(page, HasSubstr("data-count=\"3\">3</td>"));
  EXPECT_THAT(page, HasSubstr("<th class=\"cell\">leak"));
}

TEST(HeatMap, OfASweepThatIsWaivedAllThroughIsNoFailure) {
  SweepResult result;
  SweptScenario& scenario = result.scenarios.emplace_back();
  scenario.name = "x";
  SweptVariant& variant = scenario.variants.emplace_back();
  variant.points.emplace_back().point = "ohm:aa";
  variant.points[0].faults = 1;
  FailedFault& failed = variant.failed.emplace_back();
  failed.plan = "ohm:aa@1";
  failed.verdict = FaultVerdict::swallowed;
  const auto is_failed = [&] {
    return sweep_html(result).find("<a class=\"failed\"") != std::string::npos;
  };
  EXPECT_TRUE(is_failed());
  failed.waived = "it does not matter";
  EXPECT_FALSE(is_failed());
}

TEST(HeatMap, OfSomethingElseIsAnError) {
  EXPECT_THROW(read_sweep("{"), ResultError);
  EXPECT_THROW(read_sweep(R"({"schema": "ohm.sweep/2"})"), ResultError);
  EXPECT_THROW(read_sweep(R"({"schema": "ohm.sweep/1", "scenarios": [{}]})"), ResultError);
}

}  // namespace
}  // namespace ohm::reports
