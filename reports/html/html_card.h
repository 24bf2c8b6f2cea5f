// The verdict card of a scenario: a bar for each variant, and the limits drawn through them.
#pragma once

#include <string>

#include "reports/model/run_result.h"

namespace ohm::reports {

/// Where it says what was found in the only variant, a recording; else the variant's own part does.
bool has_conclusion_on_card(const ScenarioResult& scenario);

std::string html_card(const ScenarioResult& scenario);

}  // namespace ohm::reports
