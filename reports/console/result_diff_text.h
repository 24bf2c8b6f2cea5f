// The differences of two results, for people.
#pragma once

#include <string>

#include "reports/history/result_diff.h"

namespace ohm::reports {

/// "+33,554,432 B: activation of gelu, scenarios/x.lua:31 (new)".
std::string holder_sentence(const HolderChange& change);

/// Ends with a line end.
std::string diff_text(const ResultDiff& diff, bool color);
std::string diff_text(const VariantDiff& diff, bool color);

}  // namespace ohm::reports
