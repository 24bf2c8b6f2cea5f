#include "reports/json/json_report.h"

#include <cmath>

#include "reports/text/json_text.h"
#include "reports/text/json_writer.h"

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

}  // namespace

std::string json_report(const RunResult& result, const ReportStyle& /*style*/) {
  Json json = JsonWriter(JsonText::as_it_is, number).object(result);
  json["schema"] = kResultSchema;
  // A script can print anything: what is not UTF-8 is replaced.
  return json_document(json);
}

}  // namespace ohm::reports
