// The result of ohm replay for people.
#pragma once

#include <string>

#include "reports/model/replay_result.h"
#include "reports/text/report_style.h"

namespace ohm::reports {

std::string replay_text(const ReplayResult& result, const ReportStyle& style);

}  // namespace ohm::reports
