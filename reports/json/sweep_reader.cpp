#include "reports/json/sweep_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

#include "allocator_shim/base/whole_file.h"
#include "reports/json/result_reader.h"
#include "reports/json/sweep_json.h"
#include "reports/text/json_text.h"

namespace ohm::reports {

namespace {

using Json = nlohmann::json;

FaultVerdict verdict_named(const std::string& name) {
  const auto* const known =
      std::find_if(kFaultVerdicts.begin(), kFaultVerdicts.end(),
                   [&](const FaultVerdictName& one) { return one.name == name; });
  if (known == kFaultVerdicts.end()) {
    throw ResultError(fmt::format("the verdict \"{}\" is unknown", name));
  }
  return static_cast<FaultVerdict>(known - kFaultVerdicts.begin());
}

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

SweptScenario read_scenario(const Json& json) {
  SweptScenario scenario;
  scenario.name = json.at("name");
  scenario.file = json.at("file");
  for (const Json& variant : json.at("variants")) {
    scenario.variants.push_back(read_variant(variant));
  }
  return scenario;
}

}  // namespace

SweepResult read_sweep(std::string_view text) {
  SweepResult result;
  try {
    const Json sweep = parse_json(text);
    if (sweep.at("schema") != kSweepSchema) {
      throw ResultError(fmt::format("its schema is {}, this program reads {}",
                                    json_line(sweep.at("schema")), kSweepSchema));
    }
    for (const Json& scenario : sweep.at("scenarios")) {
      result.scenarios.push_back(read_scenario(scenario));
    }
  } catch (const Json::exception& error) {
    // The library's message begins with its own name and number.
    const std::string_view message = error.what();
    const std::size_t words = message.find("] ");
    throw ResultError(
        fmt::format("not a result of ohm sweep: {}",
                    words == std::string_view::npos ? message : message.substr(words + 2)));
  }
  return result;
}

SweepResult read_sweep_file(const std::string& path) {
  try {
    return read_sweep(read_whole_file(path));
  } catch (const std::system_error& error) {
    throw ResultError(fmt::format("cannot read {}: {}", path, error.code().message()));
  } catch (const ResultError& error) {
    throw ResultError(fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace ohm::reports
