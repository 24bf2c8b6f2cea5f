// The result of ohm sweep --bytes, for people.
#pragma once

#include <string>

#include "reports/model/minimum_result.h"
#include "reports/text/report_style.h"

namespace ohm::reports {

std::string minimum_text(const MinimumResult& result, const ReportStyle& style);

}  // namespace ohm::reports
