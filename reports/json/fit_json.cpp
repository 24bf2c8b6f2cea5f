#include "reports/json/fit_json.h"

#include <cmath>

#include "reports/text/json_text.h"
#include "reports/text/json_writer.h"

namespace ohm::reports {

namespace {

using Json = nlohmann::json;

/// Integers where they are; a limit's ratio with six digits.
Json finite_number(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (std::floor(value) == value && std::abs(value) < 0x1p53) {
    return static_cast<std::int64_t>(value);
  }
  return std::round(value * 1e6) / 1e6;
}

}  // namespace

std::string fit_json(const FitResult& result) {
  Json json = JsonWriter(JsonText::printable, finite_number).object(result);
  json["schema"] = kFitSchema;
  return json_document(json);
}

}  // namespace ohm::reports
