#include "reports/json/diff_json.h"

#include <nlohmann/json.hpp>

#include "reports/text/json_text.h"

namespace ohm::reports {

namespace {

using Json = nlohmann::json;  // objects are sorted by key

Json figure_json(const FigureChange& change) {
  return {{"figure", change.figure},
          {"unit", std::string(name_of(change.unit))},
          {"before", change.before},
          {"after", change.after},
          {"change", change.change()}};
}

Json holder_json(const HolderChange& change) {
  return {{"kind", std::string(name_of(change.kind))},
          {"category", std::string(name_of(change.category))},
          {"op", change.op},
          {"file", change.file},
          {"line", change.line},
          {"text", change.text},
          {"bytes_before", change.bytes_before},
          {"bytes_after", change.bytes_after},
          {"blocks_before", change.blocks_before},
          {"blocks_after", change.blocks_after},
          {"change", change.change()}};
}

Json device_json(const DeviceDiff& diff) {
  Json figures = Json::array();
  for (const FigureChange& change : diff.figures) figures.push_back(figure_json(change));
  Json holders = Json::array();
  for (const HolderChange& change : diff.holders) holders.push_back(holder_json(change));
  return {{"device", diff.device},
          {"figures", figures},
          {"holders", holders},
          {"unexplained_bytes", diff.unexplained_bytes}};
}

Json variant_json(const VariantDiff& diff) {
  Json figures = Json::array();
  for (const FigureChange& change : diff.figures) figures.push_back(figure_json(change));
  Json devices = Json::array();
  for (const DeviceDiff& device : diff.devices) devices.push_back(device_json(device));
  return {{"scenario", diff.scenario},
          {"variant", diff.variant},
          {"notes", diff.notes},
          {"figures", figures},
          {"devices", devices}};
}

}  // namespace

std::string diff_json(const ResultDiff& diff) {
  Json variants = Json::array();
  for (const VariantDiff& variant : diff.variants) variants.push_back(variant_json(variant));
  const Json json = {{"schema", "ohm.diff/1"}, {"compared", diff.compared}, {"variants", variants}};
  return json_document(json);
}

}  // namespace ohm::reports
