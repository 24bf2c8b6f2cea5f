#include "reports/sweep_heat_maps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "reports/html/html_report.h"
#include "reports/result_reader.h"
#include "reports/sweep_json.h"

namespace ohm::reports {

namespace {

using Json = nlohmann::json;

constexpr const char* kSchema = "ohm.sweep/1";
constexpr const char* kGood = "good";

/// Of a failed fault the point: "ohm:3f9c22d1" of "ohm:3f9c22d1@1".
std::string point_of(const std::string& plan) { return plan.substr(0, plan.find('@')); }

/// How many faults of each point had which verdict that is not good.
using Failures = std::map<std::string, std::map<std::string, std::int64_t>>;

Failures failures_of(const Json& variant) {
  Failures failures;
  for (const Json& fault : variant.at("failed")) {
    ++failures[point_of(fault.at("plan").get<std::string>())]
              [fault.at("verdict").get<std::string>()];
  }
  return failures;
}

HeatMapResult::Row row_of(const Json& point, const HeatMapResult& map, const Failures& failures) {
  HeatMapResult::Row row;
  row.point = point.at("point");
  row.op = point.at("op");
  row.file = point.at("file");
  row.line = point.at("line");
  row.counts.assign(map.columns.size(), 0);
  row.counts[0] = point.at("faults");
  const auto bad = failures.find(row.point);
  if (bad == failures.end()) return row;
  for (std::size_t i = 1; i < map.columns.size(); ++i) {
    const auto count = bad->second.find(map.columns[i]);
    if (count == bad->second.end()) continue;
    row.counts[i] = count->second;
    row.counts[0] -= count->second;
  }
  row.counts[0] = std::max<std::int64_t>(0, row.counts[0]);
  return row;
}

HeatMapResult heat_map_of(const Json& variant) {
  HeatMapResult map;
  map.variant = variant.at("name");
  map.columns = {kGood};
  const Failures failures = failures_of(variant);
  for (const auto& verdict : variant.at("verdicts").items()) {
    const std::string& name = verdict.key();
    const bool occurs = std::any_of(failures.begin(), failures.end(), [&](const auto& point) {
      return point.second.count(name) != 0;
    });
    if (occurs) map.columns.push_back(name);
  }
  for (const Json& point : variant.at("points")) {
    HeatMapResult::Row row = row_of(point, map, failures);
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

void add_heat_maps(std::string_view json, RunResult& result) {
  try {
    const Json sweep = Json::parse(json);
    if (sweep.at("schema") != kSchema) {
      throw ResultError(fmt::format("its schema is {}, this program reads {}",
                                    sweep.at("schema").dump(), kSchema));
    }
    for (const Json& scenario : sweep.at("scenarios")) {
      ScenarioResult& one = scenario_named(result, scenario.at("name"), scenario.at("file"));
      for (const Json& variant : scenario.at("variants")) {
        HeatMapResult map = heat_map_of(variant);
        if (!map.rows.empty()) one.heat_maps.push_back(std::move(map));
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
  add_heat_maps(sweep_json(result), page);
  for (ScenarioResult& scenario : page.scenarios) {
    for (const SweptScenario& swept : result.scenarios) {
      if (swept.name != scenario.name) continue;
      const bool has_failed =
          std::any_of(swept.variants.begin(), swept.variants.end(),
                      [](const SweptVariant& variant) { return !variant.failed.empty(); });
      if (has_failed) scenario.verdict = Verdict::failed;
    }
  }
  return html_report(page, {});
}

}  // namespace ohm::reports
