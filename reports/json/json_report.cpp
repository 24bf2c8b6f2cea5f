#include "reports/json/json_report.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "reports/history/history_json.h"
#include "reports/json/shard_json.h"

namespace ohm::reports {

namespace {

using Json = nlohmann::json;  // objects are sorted by key

/// Integers where they are; otherwise six significant digits, below which results of floating-point
/// arithmetic may differ between machines. JSON has no infinity: it becomes a string.
Json number(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  if (std::floor(value) == value && std::abs(value) < 0x1p53) {
    return static_cast<std::int64_t>(value);
  }
  const double scale = std::pow(10.0, 5.0 - std::floor(std::log10(std::abs(value))));
  return std::isfinite(scale) ? std::round(value * scale) / scale : value;
}

template <class T, class F>
Json optional_json(const std::optional<T>& value, F&& to_json) {
  return value ? Json(to_json(*value)) : Json(nullptr);
}

template <class Range, class F>
Json array_json(const Range& range, F&& to_json) {
  Json array = Json::array();
  for (const auto& item : range) array.push_back(to_json(item));
  return array;
}

Json category_json(const CategoryBytes& bytes) {
  Json object = Json::object();
  for (std::size_t i = 0; i < bytes.size(); ++i) object[std::string(kCategoryNames[i])] = bytes[i];
  return object;
}

Json holder_json(const HolderResult& holder) {
  Json object = {{"bytes", holder.bytes},
                 {"count", holder.count},
                 {"category", std::string(name_of(holder.category))},
                 {"op", holder.op},
                 {"file", holder.file},
                 {"line", holder.line}};
  if (!holder.text.empty()) object["text"] = holder.text;
  return object;
}

Json peak_json(const PeakResult& peak) {
  return {{"event", peak.event},
          {"step", peak.step},
          {"holders", array_json(peak.holders, holder_json)}};
}

Json device_json(const DeviceResult& device) {
  Json object = {{"device", device.device},
                 {"profile", device.profile},
                 {"capacity_bytes", device.capacity_bytes},
                 {"values", device.values},
                 {"rules", device.rules},
                 {"alloc_conf", device.alloc_conf},
                 {"peak_allocated_bytes", device.peak_allocated_bytes},
                 {"peak_reserved_bytes", device.peak_reserved_bytes},
                 {"allocated_at_end_bytes", device.allocated_at_end_bytes},
                 {"num_ooms", device.num_ooms},
                 {"num_alloc_retries", device.num_alloc_retries},
                 {"num_device_alloc", device.num_device_alloc},
                 {"peak_by_category", category_json(device.peak_by_category)}};
  if (!device.card.empty()) object["card"] = device.card;
  if (device.peak) object["peak"] = peak_json(*device.peak);
  if (!device.modelled.empty()) object["modelled"] = device.modelled;
  return object;
}

Json host_json(const HostResult& host) {
  return {{"peak_allocated_bytes", host.peak_allocated_bytes},
          {"allocated_at_end_bytes", host.allocated_at_end_bytes},
          {"pinned_bytes", host.pinned_bytes},
          {"num_ooms", host.num_ooms}};
}

Json limit_json(const LimitResult& limit) {
  Json object = {{"limit", limit.limit},
                 {"unit", std::string(name_of(limit.unit))},
                 {"measured", optional_json(limit.measured, number)},
                 {"bound", optional_json(limit.bound, number)},
                 {"holds", optional_json(limit.holds, [](bool holds) { return holds; })}};
  if (!limit.note.empty()) object["note"] = limit.note;
  return object;
}

Json oom_json(const OomResult& oom) {
  return {{"step", oom.step},
          {"device", oom.device},
          {"requested_bytes", oom.requested_bytes},
          {"segment_bytes", oom.segment_bytes},
          {"category", std::string(name_of(oom.category))},
          {"op", oom.op},
          {"file", oom.file},
          {"line", oom.line},
          {"message", oom.message},
          {"injected", oom.injected},
          {"policy", oom.policy},
          {"alive_by_category", category_json(oom.alive_by_category)},
          {"holders", array_json(oom.holders, holder_json)},
          {"other_holders", oom.other_holders}};
}

Json error_json(const ErrorResult& error) {
  return {{"message", error.message},
          {"file", error.file},
          {"line", error.line},
          {"traceback", error.traceback},
          {"hint", error.hint}};
}

Json retained_json(const RetainedResult& entry) {
  return {{"variable", entry.variable}, {"function", entry.function},
          {"line", entry.line},         {"bytes", entry.bytes},
          {"blocks", entry.blocks},     {"own_bytes", entry.own_bytes},
          {"path", entry.path}};
}

Json retention_json(const RetentionResult& retention) {
  return {{"device", retention.device},
          {"bytes", retention.bytes},
          {"other_bytes", retention.other_bytes},
          {"entries", array_json(retention.entries, retained_json)}};
}

Json evidence_json(const FindingEvidence& evidence) {
  return {{"event", evidence.event}, {"bytes", evidence.bytes}, {"count", evidence.count},
          {"op", evidence.op},       {"file", evidence.file},   {"line", evidence.line}};
}

Json finding_json(const FindingResult& finding) {
  return {{"pitfall", finding.pitfall},
          {"scenario", finding.scenario},
          {"device", finding.device},
          {"what", finding.what},
          {"evidence", array_json(finding.evidence, evidence_json)}};
}

Json variant_json(const VariantResult& variant) {
  Json object = {{"name", variant.name},
                 {"role", std::string(name_of(variant.role))},
                 {"line", variant.line},
                 {"verdict", std::string(name_of(variant.verdict))},
                 {"failure_type", variant.failure_type},
                 {"outcome", std::string(name_of(variant.outcome))},
                 {"reason", variant.reason},
                 {"steps", variant.steps},
                 {"equivalence", std::string(name_of(variant.equivalence))},
                 {"rerun", variant.rerun},
                 {"devices", array_json(variant.devices, device_json)},
                 {"limits", array_json(variant.limits, limit_json)}};
  const auto add_text = [&object](const char* key, const std::string& text) {
    if (!text.empty()) object[key] = text;
  };
  add_text("of", variant.of);
  add_text("trades", variant.trades);
  add_text("reference", variant.reference);
  add_text("difference", variant.difference);
  add_text("output", variant.output);
  if (variant.recovered_share) object["recovered_share"] = number(*variant.recovered_share);
  if (variant.host) object["host"] = host_json(*variant.host);
  if (variant.oom) object["oom"] = oom_json(*variant.oom);
  if (variant.error) object["error"] = error_json(*variant.error);
  if (variant.history) object["history"] = history_json(*variant.history);
  if (variant.retention) object["retention"] = retention_json(*variant.retention);
  if (!variant.findings.empty()) object["findings"] = array_json(variant.findings, finding_json);
  if (!variant.unused_faults.empty()) object["unused_faults"] = variant.unused_faults;
  if (variant.seconds) object["seconds"] = *variant.seconds;
  return object;
}

Json parameter_json(const ParameterResult& parameter) {
  return {{"name", parameter.name},
          {"value", number(parameter.value)},
          {"default", number(parameter.default_value)}};
}

Json scenario_json(const ScenarioResult& scenario) {
  Json object = {{"name", scenario.name},
                 {"summary", scenario.summary},
                 {"file", scenario.file},
                 {"verdict", std::string(name_of(scenario.verdict))},
                 {"variants", array_json(scenario.variants, variant_json)},
                 {"references", array_json(scenario.references, variant_json)}};
  if (scenario.error) object["error"] = error_json(*scenario.error);
  if (!scenario.source.empty()) object["source"] = scenario.source;
  if (!scenario.parameters.empty()) {
    object["parameters"] = array_json(scenario.parameters, parameter_json);
  }
  return object;
}

}  // namespace

std::string json_report(const RunResult& result, const ReportStyle& /*style*/) {
  Json json = {{"schema", kResultSchema},
               {"exit_reason", std::string(exit_code(result.exit_reason).reason)},
               {"scenarios", array_json(result.scenarios, scenario_json)}};
  if (result.shard) json["shard"] = shard_json(*result.shard);
  // A script can print anything: what is not UTF-8 is replaced.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ohm::reports
