#include "reports/text/json_text.h"

#include <istream>
#include <nlohmann/json.hpp>

namespace ohm::reports {

using Json = nlohmann::json;

std::string json_line(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string json_document(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json parse_json(std::string_view text) { return Json::parse(text); }

Json parse_json(std::istream& stream) { return Json::parse(stream); }

Json json_or_discarded(std::string_view text) {
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

}  // namespace ohm::reports
