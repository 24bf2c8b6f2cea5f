// The result as JSON, schema "ohm.result/1" (ohm.result.schema.json): sorted keys, bytes as
// integers, nothing that differs between two equal runs.
#pragma once

#include <string>

#include "reports/model/run_result.h"
#include "reports/text/report_style.h"

namespace ohm::reports {

inline constexpr const char* kResultSchema = "ohm.result/1";

std::string json_report(const RunResult& result, const ReportStyle& style);

}  // namespace ohm::reports
