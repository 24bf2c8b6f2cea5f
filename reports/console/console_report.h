// The result as a table for people, 100 columns wide.
#pragma once

#include <string>

#include "reports/model/run_result.h"
#include "reports/text/report_style.h"

namespace ohm::reports {

/// One scenario: its head, a row for each variant, then what people need to see of failures and of
/// out-of-memory errors. Ends with an empty line.
std::string console_scenario(const ScenarioResult& scenario, const ReportStyle& style);

/// "4 scenarios, 38 variants: 37 passed, 1 failed".
std::string console_summary(const RunResult& result, const ReportStyle& style);

/// All scenarios and the summary.
std::string console_report(const RunResult& result, const ReportStyle& style);

}  // namespace ohm::reports
