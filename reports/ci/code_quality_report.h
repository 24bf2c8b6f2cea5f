// GitLab's code quality report, which merge requests show beside the lines.
#pragma once

#include <string>

#include "reports/model/run_result.h"
#include "reports/text/report_style.h"

namespace ohm::reports {

/// A JSON array with an issue for each variant that failed and each scenario that did not load.
/// Fingerprints depend on the variant and on what failed, not on lines: an issue that moves is the
/// same.
std::string code_quality_report(const RunResult& result, const ReportStyle& style);

}  // namespace ohm::reports
