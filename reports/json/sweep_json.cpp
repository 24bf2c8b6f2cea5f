#include "reports/json/sweep_json.h"

#include "reports/text/json_writer.h"

namespace ohm::reports {

std::string sweep_json(const SweepResult& result) {
  // Its fields are integers and texts.
  const JsonWriter writer(JsonText::printable, [](double value) { return nlohmann::json(value); });
  nlohmann::json json = writer.object(result);
  json["schema"] = kSweepSchema;
  return json.dump(2) + "\n";
}

}  // namespace ohm::reports
