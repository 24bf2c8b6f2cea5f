#include "reports/history/history_json.h"

#include "reports/text/json_writer.h"

namespace ohm::reports {

nlohmann::json history_json(const MemoryHistory& history) {
  // It has integers alone.
  const JsonWriter writer(JsonText::as_it_is, [](double value) { return nlohmann::json(value); });
  return writer.object(history);
}

}  // namespace ohm::reports
