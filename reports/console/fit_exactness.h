// How exact the peaks of a fit are, as far as values decide them that no kernel computed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/model/fit_result.h"

namespace ohm::reports {

/// "exact", "upper bound", "assumed" or "not exact".
std::string_view exactness(const FitRow& row);

struct ExactnessNote {
  std::string name;  ///< "upper bound"
  std::string text;
};
/// Why they are not exact; none where they are. `varied` as FitResult::varied.
std::vector<ExactnessNote> exactness_notes(const FitRow& row, const std::string& varied);

/// What changes it, where a row depends on such values; else empty.
std::string exactness_advice(const FitResult& result);

}  // namespace ohm::reports
