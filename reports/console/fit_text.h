// The result of ohm fit for people.
#pragma once

#include <string>

#include "reports/model/fit_result.h"
#include "reports/text/report_style.h"

namespace ohm::reports {

/// With one kind of GPU everything that is known about each variant; with several a table, and the
/// rest with Detail::verbose.
std::string fit_text(const FitResult& result, const ReportStyle& style);

}  // namespace ohm::reports
