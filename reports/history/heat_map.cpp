#include "reports/history/heat_map.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <utility>

namespace ohm::reports {

namespace {

constexpr const char* kGood = "good";

/// Of a failed fault the point: "ohm:3f9c22d1" of "ohm:3f9c22d1@1".
std::string point_of(const std::string& plan) { return plan.substr(0, plan.find('@')); }

/// How many faults had which verdict, by FaultVerdict.
using VerdictCounts = std::array<std::int64_t, kFaultVerdicts.size()>;

HeatMapResult heat_map_of(const SweptVariant& variant) {
  std::map<std::string, VerdictCounts> failures;  // by point
  VerdictCounts sums = {};
  for (const FailedFault& failed : variant.failed) {
    const auto verdict = static_cast<std::size_t>(failed.verdict);
    ++failures[point_of(failed.plan)][verdict];
    ++sums[verdict];
  }
  HeatMapResult map;
  map.variant = variant.name;
  map.columns = {kGood};
  for (std::size_t verdict = 0; verdict < sums.size(); ++verdict) {
    if (sums[verdict] != 0) map.columns.emplace_back(kFaultVerdicts[verdict].name);
  }
  for (const SweepPoint& point : variant.points) {
    const VerdictCounts bad = failures[point.point];
    const std::int64_t good =
        point.faults - std::accumulate(bad.begin(), bad.end(), std::int64_t{});
    HeatMapRow row{point.point, point.op, point.file, point.line, {}};
    row.counts.push_back(std::max<std::int64_t>(0, good));
    for (std::size_t verdict = 0; verdict < sums.size(); ++verdict) {
      if (sums[verdict] != 0) row.counts.push_back(bad[verdict]);
    }
    const bool was_hit = std::any_of(row.counts.begin(), row.counts.end(),
                                     [](std::int64_t count) { return count > 0; });
    if (was_hit) map.rows.push_back(std::move(row));
  }
  return map;
}

ScenarioResult& scenario_named(RunResult& result, const std::string& name,
                               const std::string& file) {
  for (ScenarioResult& scenario : result.scenarios) {
    if (scenario.name == name) return scenario;
  }
  ScenarioResult& added = result.scenarios.emplace_back();
  added.name = name;
  added.file = file;
  added.verdict = Verdict::passed;
  return added;
}

}  // namespace

void add_heat_maps(const SweepResult& sweep, RunResult& result) {
  for (const SweptScenario& swept : sweep.scenarios) {
    ScenarioResult& scenario = scenario_named(result, swept.name, swept.file);
    for (const SweptVariant& variant : swept.variants) {
      HeatMapResult map = heat_map_of(variant);
      if (!map.rows.empty()) scenario.heat_maps.push_back(std::move(map));
    }
  }
}

}  // namespace ohm::reports
