// Blocks of a history summed by the user's lines: what a broken limit is made of.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "reports/model/cause_result.h"
#include "reports/model/memory_history.h"
#include "reports/model/memory_result.h"

namespace ohm::reports {

/// The largest growth of a device from the end of one step to the end of the next, behind two steps
/// that warm up; none: there are too few steps. It may be negative.
std::optional<std::int64_t> growth_per_step(
    const std::vector<std::vector<std::int64_t>>& allocated_at_marks);

/// Of the step that grows most: what each line has more at its end than at the end of the step
/// before. `history` with all of its blocks.
std::vector<CauseLine> lines_of_growth(const MemoryHistory& history,
                                       const DeviceMemoryHistory& device);

/// What is alive at the end of the record.
std::vector<CauseLine> lines_at_end(const MemoryHistory& history,
                                    const DeviceMemoryHistory& device);

/// Holders of one line, of whichever op and category, are one.
std::vector<CauseLine> lines_of_holders(const std::vector<HolderResult>& holders);

}  // namespace ohm::reports
