// The result of ohm fit for programs: schema "ohm.fit/1", described in
// reports/json/ohm.fit.schema.json.
#pragma once

#include <string>
#include <string_view>

#include "reports/model/fit_result.h"

namespace ohm::reports {

inline constexpr std::string_view kFitSchema = "ohm.fit/1";

/// Keys are sorted, bytes are integers.
std::string fit_json(const FitResult& result);

}  // namespace ohm::reports
