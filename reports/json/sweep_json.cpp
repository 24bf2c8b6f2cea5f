#include "reports/json/sweep_json.h"

#include <nlohmann/json.hpp>

#include "reports/json/shard_json.h"
#include "reports/text/text_layout.h"

namespace ohm::reports {
namespace {

using Json = nlohmann::json;  // objects are sorted by key

template <typename Range, typename ToJson>
Json array_json(const Range& range, ToJson to_json) {
  Json array = Json::array();
  for (const auto& item : range) array.push_back(to_json(item));
  return array;
}

Json text_json(const std::string& text) { return printable(text); }

Json error_json(const std::optional<ErrorResult>& error) {
  if (!error) return nullptr;
  return {{"message", text_json(error->message)},
          {"file", text_json(error->file)},
          {"line", error->line},
          {"hint", text_json(error->hint)}};
}

Json point_json(const SweepPoint& point) {
  return {{"point", point.point},        {"level", point.level},
          {"device", point.device},      {"category", name_of(point.category)},
          {"op", text_json(point.op)},   {"file", text_json(point.file)},
          {"line", point.line},          {"stack", array_json(point.stack, text_json)},
          {"passes", point.passes},      {"faults", point.faults},
          {"unhandled", point.unhandled}};
}

Json failed_json(const FailedFault& failed) {
  Json json = {{"plan", failed.plan},
               {"form", name_of(failed.form)},
               {"verdict", name_of(failed.verdict)},
               {"what", text_json(failed.what)},
               {"call", failed.call},
               {"op", text_json(failed.op)},
               {"file", text_json(failed.file)},
               {"line", failed.line},
               {"bytes", failed.bytes},
               {"rerun", text_json(failed.rerun)}};
  if (!failed.waived.empty()) json["waived"] = text_json(failed.waived);
  return json;
}

Json variant_json(const SweptVariant& variant) {
  Json verdicts = Json::object();
  for (std::size_t i = 0; i < kFaultVerdicts.size(); ++i) {
    verdicts[std::string(kFaultVerdicts[i].name)] = variant.verdicts[i];
  }
  return {{"name", variant.name},
          {"role", name_of(variant.role)},
          {"of", text_json(variant.of)},
          {"line", variant.line},
          {"error", error_json(variant.error)},
          {"values", variant.values},
          {"calls", variant.calls},
          {"faults", variant.faults},
          {"benign", variant.benign},
          {"handled", variant.handled},
          {"peak_bytes", variant.peak_bytes},
          {"peak_after_faults_bytes", variant.peak_after_faults_bytes},
          {"repeated_calls", variant.repeated_calls},
          {"waived", variant.waived},
          {"untested", variant.untested},
          {"verdicts", std::move(verdicts)},
          {"points", array_json(variant.points, point_json)},
          {"failed", array_json(variant.failed, failed_json)}};
}

Json scenario_json(const SweptScenario& scenario) {
  return {{"name", text_json(scenario.name)},
          {"file", text_json(scenario.file)},
          {"error", error_json(scenario.error)},
          {"variants", array_json(scenario.variants, variant_json)}};
}

}  // namespace

std::string sweep_json(const SweepResult& result) {
  Json json = {
      {"schema", kSweepSchema},  {"exit_reason", exit_code(result.exit_reason).reason},
      {"points", result.points}, {"form", result.form},
      {"level", result.level},   {"host", result.host},
      {"depth", result.depth},   {"scenarios", array_json(result.scenarios, scenario_json)}};
  if (result.shard) json["shard"] = shard_json(*result.shard);
  return json.dump(2) + "\n";
}

}  // namespace ohm::reports
