// Why a recorded program broke its gate: the lines of the figure that is too large.
#pragma once

#include <optional>
#include <string_view>

#include "harness/judge/limit.h"
#include "reports/history/result_diff.h"
#include "reports/history/snapshot_result.h"
#include "reports/model/cause_result.h"

namespace ohm::engine {

/// Of a limit that does not hold: what was alive at the peak, what is left, what grew. None where
/// lines say nothing of the figure (a number of steps), or were not recorded.
std::optional<CauseResult> cause_of_limit(const Limit& limit, const reports::RecordedRun& recorded);

/// Of a figure that is above the baseline's: the lines that have more than they had, as `diff` has
/// them; of growth what grows now. `figure` may be "cuda:0 peak_allocated_bytes".
std::optional<CauseResult> cause_of_increase(std::string_view figure,
                                             const reports::VariantDiff& diff,
                                             const reports::RecordedRun& recorded);

}  // namespace ohm::engine
