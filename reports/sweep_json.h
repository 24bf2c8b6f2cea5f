// The result of ohm sweep for programs: schema "ohm.sweep/1".
#pragma once

#include <string>

#include "reports/sweep_result.h"

namespace ohm::reports {

/// Keys are sorted, bytes are integers.
std::string sweep_json(const SweepResult& result);

}  // namespace ohm::reports
