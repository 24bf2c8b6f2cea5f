// The shards of a sweep in one report: their points, of which only the first shard names all.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "reports/json/merge.h"
#include "reports/json/sweep_json.h"

namespace ohm::reports {
namespace {

using Json = nlohmann::json;

SweepPoint point(const std::string& name, int line, std::int64_t faults) {
  SweepPoint point;
  point.point = name;
  point.line = line;
  point.passes = 2;
  point.faults = faults;
  return point;
}

/// A sweep of one variant; of a shard where it has a number.
SweepResult sweep(const std::vector<SweepPoint>& points, std::int64_t number = 0) {
  SweptVariant variant;
  variant.name = "it";
  variant.points = points;
  for (const SweepPoint& one : points) variant.faults += one.faults;
  variant.verdicts[0] = variant.faults;
  SweepResult result;
  result.scenarios.push_back({"scenario", "scenario.lua", {}, {variant}});
  if (number > 0) {
    result.shard = ShardResult{number, 2, {}, {{"seed", "0"}}, {{"scenario.lua", "11"}}};
  }
  return result;
}

std::string merged(const SweepResult& first, const SweepResult& second) {
  const std::vector<ReportPart> parts = {{"1.json", [&] { return sweep_json(first); }},
                                         {"2.json", [&] { return sweep_json(second); }}};
  const std::string json = merged_reports(parts).json;
  EXPECT_EQ(merged_reports({parts[1], parts[0]}).json, json) << "in any order";
  return json;
}

TEST(MergeOfSweeps, TakesFromTheFirstShardWhatTheOthersHadNoFaultsAt) {
  const SweepResult second = sweep({point("ohm:1", 1, 0), point("ohm:2", 2, 1)}, 2);
  const Json points = Json::parse(sweep_json(second))["scenarios"][0]["variants"][0]["points"];
  ASSERT_EQ(points.size(), 1);
  EXPECT_EQ(points[0]["point"], "ohm:2");
  EXPECT_EQ(merged(sweep({point("ohm:1", 1, 0), point("ohm:2", 2, 2)}, 1), second),
            sweep_json(sweep({point("ohm:1", 1, 0), point("ohm:2", 2, 3)})));
}

TEST(MergeOfSweeps, TellsPointsOfOneNameApart) {
  EXPECT_EQ(merged(sweep({point("ohm:1", 1, 2), point("ohm:1", 5, 0)}, 1),
                   sweep({point("ohm:1", 1, 0), point("ohm:1", 5, 7)}, 2)),
            sweep_json(sweep({point("ohm:1", 1, 2), point("ohm:1", 5, 7)})));
}

TEST(MergeOfSweeps, RefusesAPointThatTheFirstShardDoesNotHave) {
  for (const std::string name : {"ohm:2", "ohm:1"}) {
    const SweepResult other = sweep({point("ohm:1", 1, 1), point(name, 2, 1)}, 2);
    EXPECT_THROW(merged(sweep({point("ohm:1", 1, 1)}, 1), other), std::invalid_argument) << name;
  }
  SweepPoint more_passes = point("ohm:1", 1, 1);
  more_passes.passes = 3;
  EXPECT_THROW(merged(sweep({point("ohm:1", 1, 1)}, 1), sweep({more_passes}, 2)),
               std::invalid_argument);
}

}  // namespace
}  // namespace ohm::reports
