// An out-of-memory error for people: the request, PyTorch's message, and what was alive.
#pragma once

#include <string>

#include "reports/model/run_result.h"
#include "reports/text/report_style.h"

namespace ohm::reports {

/// Several lines, indented by two; ends with a line end.
std::string console_oom(const std::string& variant, const OomResult& oom, const ReportStyle& style);

}  // namespace ohm::reports
