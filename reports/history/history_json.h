// A history as JSON: columns of integers, each a text with blanks between, so that a report of many
// lines keeps one line for each.
#pragma once

#include <nlohmann/json.hpp>

#include "reports/model/memory_history.h"

namespace ohm::reports {

nlohmann::json history_json(const MemoryHistory& history);

/// What history_json() wrote. Throws std::invalid_argument for anything else: columns of different
/// lengths, indices beyond their tables, negative figures.
MemoryHistory history_of(const nlohmann::json& json);

}  // namespace ohm::reports
