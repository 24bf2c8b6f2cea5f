// The verdict card of a scenario: a bar for each variant, and the limits drawn through them.
#pragma once

#include <string>

#include "reports/model/run_result.h"

namespace ohm::reports {

std::string html_card(const ScenarioResult& scenario);

}  // namespace ohm::reports
