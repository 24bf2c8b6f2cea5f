// Tables that say what the charts show, for readers without a script or without eyes for charts.
#pragma once

#include <cstddef>
#include <string>

#include "reports/model/memory_history.h"

namespace ohm::reports {

/// So many blocks of most bytes × lifetime, folded.
std::string block_table(const MemoryHistory& history, std::size_t rows);

/// The segments of each device at its peak with what is free in them, folded.
std::string segment_table(const MemoryHistory& history);

}  // namespace ohm::reports
