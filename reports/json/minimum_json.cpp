#include "reports/json/minimum_json.h"

#include "reports/text/json_text.h"
#include "reports/text/json_writer.h"

namespace ohm::reports {

std::string minimum_json(const MinimumResult& result) {
  // Its fields are integers and texts.
  const JsonWriter writer(JsonText::printable, [](double value) { return nlohmann::json(value); });
  nlohmann::json json = writer.object(result);
  json["schema"] = "ohm.minimum/1";
  return json_document(json);
}

}  // namespace ohm::reports
