// The result of ohm sweep --bytes for programs: schema "ohm.minimum/1".
#pragma once

#include <string>

#include "reports/model/minimum_result.h"

namespace ohm::reports {

/// Keys are sorted, bytes are integers.
std::string minimum_json(const MinimumResult& result);

}  // namespace ohm::reports
