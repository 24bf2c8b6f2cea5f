// A history that comes from a file: whether its parts belong together.
#pragma once

#include "reports/model/memory_history.h"

namespace ohm::reports {

/// Throws std::invalid_argument for curves of another length than the events have, and for blocks
/// whose site is not in the table.
void check_history(const MemoryHistory& history);

}  // namespace ohm::reports
