// The page of a sweep: its heat maps alone.
#pragma once

#include <string>

#include "reports/model/sweep_result.h"

namespace ohm::reports {

std::string sweep_html(const SweepResult& result);

}  // namespace ohm::reports
