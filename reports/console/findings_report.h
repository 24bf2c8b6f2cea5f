// What a record shows of pitfalls, for the terminal and for pages.
#pragma once

#include <string>

#include "reports/model/run_result.h"
#include "reports/reporter.h"

namespace ohm::reports {

/// Each finding in its words, the lines and events that show it, the scenario that explains it;
/// empty without findings.
std::string console_findings(const VariantResult& variant, const ReportStyle& style);

/// The same as a section of HTML.
std::string html_findings(const VariantResult& variant);

}  // namespace ohm::reports
