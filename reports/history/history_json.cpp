#include "reports/history/history_json.h"

#include "reports/text/json_writer.h"

namespace ohm::reports {

nlohmann::json history_json(const MemoryHistory& history) {
  // It has integers alone. Names come from files, and may hold any bytes.
  const JsonWriter writer(JsonText::printable, [](double value) { return nlohmann::json(value); });
  return writer.object(history);
}

}  // namespace ohm::reports
