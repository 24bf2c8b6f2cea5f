// The findings of a record, for the terminal.
#pragma once

#include <string>

#include "reports/model/run_result.h"
#include "reports/text/report_style.h"

namespace ohm::reports {

/// Each finding in its words, the lines and events that show it, the scenario that explains it;
/// empty without findings.
std::string console_findings(const VariantResult& variant, const ReportStyle& style);

}  // namespace ohm::reports
