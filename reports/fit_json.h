// The result of ohm fit for programs: schema "ohm.fit/1", described in
// reports/ohm.fit.schema.json.
#pragma once

#include <string>

#include "reports/fit_result.h"

namespace ohm::reports {

/// Keys are sorted, bytes are integers.
std::string fit_json(const FitResult& result);

}  // namespace ohm::reports
