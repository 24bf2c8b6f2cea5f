// A history as JSON: columns of integers, each a text with blanks between, so that a report of many
// lines keeps one line for each.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "reports/model/memory_history.h"

namespace ohm::reports {

nlohmann::json history_json(const MemoryHistory& history);

}  // namespace ohm::reports
