#include "reports/json/minimum_json.h"

#include <nlohmann/json.hpp>

#include "reports/text/text_layout.h"

namespace ohm::reports {

namespace {

using Json = nlohmann::json;  // objects are sorted by key

Json error_json(const std::optional<ErrorResult>& error) {
  return error ? Json(printable(error->message)) : Json(nullptr);
}

Json capacity_json(const MinimumCapacity& minimum) {
  Json fails = nullptr;
  if (minimum.fails) {
    fails = {{"requested_bytes", minimum.fails->requested_bytes},
             {"op", printable(minimum.fails->op)},
             {"file", printable(minimum.fails->file)},
             {"line", minimum.fails->line},
             {"step", minimum.fails->step},
             {"device", minimum.fails->device}};
  }
  return {{"bytes", minimum.bytes},
          {"rerun", printable(minimum.rerun)},
          {"shortage", name_of(minimum.shortage)},
          {"fails_rerun",
           minimum.fails_rerun.empty() ? Json(nullptr) : Json(printable(minimum.fails_rerun))},
          {"fails", std::move(fails)}};
}

Json variant_json(const VariantMinimum& variant) {
  Json json = {{"name", variant.name},
               {"role", name_of(variant.role)},
               {"error", error_json(variant.error)}};
  if (variant.error) return json;
  json["without_retry"] = capacity_json(variant.without_retry);
  json["with_retries"] = capacity_json(variant.with_retries);
  return json;
}

}  // namespace

std::string minimum_json(const MinimumResult& result) {
  Json scenarios = Json::array();
  for (const ScenarioMinimum& scenario : result.scenarios) {
    Json variants = Json::array();
    for (const VariantMinimum& variant : scenario.variants) {
      variants.push_back(variant_json(variant));
    }
    scenarios.push_back({{"name", printable(scenario.name)},
                         {"file", printable(scenario.file)},
                         {"error", error_json(scenario.error)},
                         {"variants", std::move(variants)}});
  }
  const Json json = {{"schema", "ohm.minimum/1"},
                     {"exit_reason", exit_code(result.exit_reason).reason},
                     {"scenarios", std::move(scenarios)}};
  return json.dump(2) + "\n";
}

}  // namespace ohm::reports
