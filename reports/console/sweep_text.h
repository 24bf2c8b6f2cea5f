// The result of ohm sweep for people.
#pragma once

#include <string>

#include "reports/model/sweep_result.h"
#include "reports/text/report_style.h"

namespace ohm::reports {

std::string sweep_scenario_text(const SweptScenario& scenario, const ReportStyle& style);
std::string sweep_summary_text(const SweepResult& result, const ReportStyle& style);

}  // namespace ohm::reports
