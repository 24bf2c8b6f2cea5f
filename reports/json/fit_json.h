// The result of ohm fit for programs: schema "ohm.fit/1", described in
// reports/json/ohm.fit.schema.json.
#pragma once

#include <string>

#include "reports/model/fit_result.h"

namespace ohm::reports {

/// Keys are sorted, bytes are integers.
std::string fit_json(const FitResult& result);

}  // namespace ohm::reports
