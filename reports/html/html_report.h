// The report for people: one file of HTML that opens from disk, with nothing to load.
#pragma once

#include <string>

#include "reports/model/run_result.h"
#include "reports/text/report_style.h"

namespace ohm::reports {

std::string html_report(const RunResult& result, const ReportStyle& style);

}  // namespace ohm::reports
