#include "reports/json/fit_json.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "reports/text/text_layout.h"

namespace ohm::reports {
namespace {

using Json = nlohmann::json;  // objects are sorted by key

constexpr std::array<const char*, 4> kOutcomes = {"found", "none_fits", "all_fit", "failed"};
constexpr std::array<const char*, 3> kStops = {"out_of_memory", "limit", "error"};

template <class Value, class ToJson>
Json optional_json(const std::optional<Value>& value, ToJson to_json) {
  return value ? to_json(*value) : Json(nullptr);
}

/// Integers where they are; a limit's ratio with six digits.
Json number(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (std::floor(value) == value && std::abs(value) < 0x1p53) {
    return static_cast<std::int64_t>(value);
  }
  return std::round(value * 1e6) / 1e6;
}

Json point_json(const FitPoint& point) {
  return {{"value", point.value},
          {"peak_allocated_bytes", point.peak_allocated_bytes},
          {"peak_reserved_bytes", point.peak_reserved_bytes}};
}

Json line_json(const FitLine& line) {
  return {{"bytes_per_unit", number(line.bytes_per_unit)},
          {"fixed_bytes", number(line.fixed_bytes)},
          {"from_value", line.from_value},
          {"checked_values", line.checked_values},
          {"largest_deviation_bytes", line.largest_deviation_bytes},
          {"is_line", line.is_line}};
}

Json stop_json(const FitStop& stop) {
  Json object = {{"value", stop.value},
                 {"kind", kStops.at(static_cast<std::size_t>(stop.kind))},
                 {"reason", printable(stop.reason)}};
  if (stop.limit) {
    object["limit"] = stop.limit->limit;
    object["measured"] = optional_json(stop.limit->measured, number);
    object["bound"] = optional_json(stop.limit->bound, number);
  }
  return object;
}

Json margin_json(const FitMargin& margin) {
  return {{"capacity_bytes", margin.capacity_bytes},
          {"modelled_context_bytes", margin.context_bytes},
          {"modelled_workspace_bytes", margin.workspace_bytes},
          {"left_bytes", margin.left_bytes}};
}

Json row_json(const FitRow& row) {
  Json object = {
      {"variant", row.variant},
      {"role", std::string(name_of(row.role))},
      {"gpu", row.profile},
      {"gpu_count", row.gpu_count},
      {"outcome", kOutcomes.at(static_cast<std::size_t>(row.outcome))},
      {"best", optional_json(row.best, point_json)},
      {"next", optional_json(row.stop, stop_json)},
      {"best_within_limits", optional_json(row.best_within_limits, point_json)},
      {"next_limit", optional_json(row.limit_stop, stop_json)},
      {"line", optional_json(row.line, line_json)},
      {"margin", optional_json(row.margin, margin_json)},
      {"needed_bytes", optional_json(row.needed_bytes, [](std::int64_t n) { return Json(n); })},
      {"fits_beyond", row.fits_beyond},
      {"fails_within", row.fails_within},
      {"unchecked_limits", row.unchecked},
      {"runs", row.runs}};
  if (!row.modelled.empty()) object["modelled"] = row.modelled;
  if (!row.error.empty()) object["error"] = printable(row.error);
  if (!row.smallest_profile.empty()) object["smallest_gpu"] = row.smallest_profile;
  return object;
}

}  // namespace

std::string fit_json(const FitResult& result) {
  Json rows = Json::array();
  for (const FitRow& row : result.rows) rows.push_back(row_json(row));
  Json json = {{"schema", "ohm.fit/1"},
               {"scenario", result.name},
               {"file", printable(result.file)},
               {"varied", result.varied},
               {"least", result.least},
               {"most", result.most},
               {"considers_limits", result.considers_limits},
               {"exit_reason", std::string(exit_code(result.exit_reason).reason)},
               {"rows", rows}};
  if (result.error) json["error"] = printable(result.error->message);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ohm::reports
