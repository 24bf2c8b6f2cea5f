#include "reports/json/sweep_json.h"

#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reports/text/json_text.h"
#include "reports/text/json_writer.h"

namespace ohm::reports {

namespace {

/// Points at which nothing was injected say the same in every shard: the first one has them. Those
/// that go by one name, as some of very many do, are told apart by their order alone.
void drop_known_points(SweptVariant& variant) {
  std::unordered_map<std::string_view, std::size_t> of_name;
  for (const SweepPoint& point : variant.points) ++of_name[point.point];
  std::vector<SweepPoint> kept;
  for (const SweepPoint& point : variant.points) {
    if (point.faults > 0 || of_name[point.point] > 1) kept.push_back(point);
  }
  variant.points = std::move(kept);
}

SweepResult without_known_points(SweepResult result) {
  for (SweptScenario& scenario : result.scenarios) {
    for (SweptVariant& variant : scenario.variants) drop_known_points(variant);
  }
  return result;
}

std::string written(const SweepResult& result) {
  // Its fields are integers and texts.
  const JsonWriter writer(JsonText::printable, [](double value) { return nlohmann::json(value); });
  nlohmann::json json = writer.object(result);
  json["schema"] = kSweepSchema;
  return json_document(json);
}

}  // namespace

std::string sweep_json(const SweepResult& result) {
  if (result.shard && result.shard->number > 1) return written(without_known_points(result));
  return written(result);
}

}  // namespace ohm::reports
