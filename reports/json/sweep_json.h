// The result of ohm sweep for programs.
#pragma once

#include <string>
#include <string_view>

#include "reports/model/sweep_result.h"

namespace ohm::reports {

inline constexpr std::string_view kSweepSchema = "ohm.sweep/1";

/// Keys are sorted, bytes are integers. Of the points of a shard, other than the first, those at
/// which it injected faults: what merges the shards takes the others from the first.
std::string sweep_json(const SweepResult& result);

}  // namespace ohm::reports
