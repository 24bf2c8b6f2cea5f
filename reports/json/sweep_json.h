// The result of ohm sweep for programs.
#pragma once

#include <string>
#include <string_view>

#include "reports/model/sweep_result.h"

namespace ohm::reports {

inline constexpr std::string_view kSweepSchema = "ohm.sweep/1";

/// Keys are sorted, bytes are integers.
std::string sweep_json(const SweepResult& result);

}  // namespace ohm::reports
