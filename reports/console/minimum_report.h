// The result of ohm sweep --bytes.
#pragma once

#include <string>

#include "reports/model/minimum_result.h"
#include "reports/reporter.h"

namespace ohm::reports {

std::string minimum_text(const MinimumResult& result, const ReportStyle& style);

/// Schema "ohm.minimum/1"; keys are sorted, bytes are integers.
std::string minimum_json(const MinimumResult& result);

}  // namespace ohm::reports
