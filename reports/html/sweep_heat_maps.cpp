#include "reports/html/sweep_heat_maps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>
#include <vector>

#include "reports/html/html_report.h"
#include "reports/json/result_reader.h"
#include "reports/json/sweep_json.h"

namespace ohm::reports {

namespace {

using Json = nlohmann::json;

constexpr const char* kGood = "good";

/// Of a failed fault the point: "ohm:3f9c22d1" of "ohm:3f9c22d1@1".
std::string point_of(const std::string& plan) { return plan.substr(0, plan.find('@')); }

/// How many faults had which verdict, by FaultVerdict.
using Counts = std::array<std::int64_t, kFaultVerdicts.size()>;

HeatMapResult heat_map_of(const SweptVariant& variant) {
  std::map<std::string, Counts> failures;  // by point
  Counts sums = {};
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
    const Counts bad = failures[point.point];
    const std::int64_t good =
        point.faults - std::accumulate(bad.begin(), bad.end(), std::int64_t{});
    HeatMapResult::Row row{point.point, point.op, point.file, point.line, {}};
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

FaultVerdict verdict_named(const std::string& name) {
  const auto* const known =
      std::find_if(kFaultVerdicts.begin(), kFaultVerdicts.end(),
                   [&](const FaultVerdictName& one) { return one.name == name; });
  if (known == kFaultVerdicts.end()) {
    throw ResultError(fmt::format("the verdict \"{}\" is unknown", name));
  }
  return static_cast<FaultVerdict>(known - kFaultVerdicts.begin());
}

/// As much of a variant as a heat map shows.
SweptVariant read_variant(const Json& json) {
  SweptVariant variant;
  variant.name = json.at("name");
  for (const Json& from : json.at("points")) {
    SweepPoint& point = variant.points.emplace_back();
    point.point = from.at("point");
    point.op = from.at("op");
    point.file = from.at("file");
    point.line = from.at("line");
    point.faults = from.at("faults");
  }
  for (const Json& from : json.at("failed")) {
    FailedFault& failed = variant.failed.emplace_back();
    failed.plan = from.at("plan");
    failed.verdict = verdict_named(from.at("verdict"));
  }
  return variant;
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

void add_heat_map(const SweptVariant& variant, ScenarioResult& scenario) {
  HeatMapResult map = heat_map_of(variant);
  if (!map.rows.empty()) scenario.heat_maps.push_back(std::move(map));
}

}  // namespace

void add_heat_maps(std::string_view json, RunResult& result) {
  try {
    const Json sweep = Json::parse(json);
    if (sweep.at("schema") != kSweepSchema) {
      throw ResultError(fmt::format("its schema is {}, this program reads {}",
                                    sweep.at("schema").dump(), kSweepSchema));
    }
    for (const Json& scenario : sweep.at("scenarios")) {
      ScenarioResult& one = scenario_named(result, scenario.at("name"), scenario.at("file"));
      for (const Json& variant : scenario.at("variants")) {
        add_heat_map(read_variant(variant), one);
      }
    }
  } catch (const Json::exception& error) {
    // The library's message begins with its own name and number.
    const std::string_view message = error.what();
    const std::size_t words = message.find("] ");
    throw ResultError(fmt::format("no result of ohm sweep: {}", words == std::string_view::npos
                                                                    ? message
                                                                    : message.substr(words + 2)));
  }
}

void add_heat_maps_of_file(const std::string& path, RunResult& result) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw ResultError(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  try {
    add_heat_maps(text, result);
  } catch (const ResultError& error) {
    throw ResultError(fmt::format("{}: {}", path, error.what()));
  }
}

std::string sweep_html(const SweepResult& result) {
  RunResult page;
  for (const SweptScenario& swept : result.scenarios) {
    ScenarioResult& scenario = scenario_named(page, swept.name, swept.file);
    if (!is_clean(swept)) scenario.verdict = Verdict::failed;
    for (const SweptVariant& variant : swept.variants) add_heat_map(variant, scenario);
  }
  return html_report(page, {});
}

}  // namespace ohm::reports
