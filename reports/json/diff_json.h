// The differences of two results for programs: schema "ohm.diff/1".
#pragma once

#include <string>

#include "reports/history/result_diff.h"

namespace ohm::reports {

/// Keys are sorted, bytes are integers.
std::string diff_json(const ResultDiff& diff);

}  // namespace ohm::reports
