// The result as JUnit XML in GoogleTest's flavour: a suite is a scenario file, a case a variant.
#pragma once

#include <string>

#include "reports/model/run_result.h"
#include "reports/text/report_style.h"

namespace ohm::reports {

std::string junit_report(const RunResult& result, const ReportStyle& style);

}  // namespace ohm::reports
