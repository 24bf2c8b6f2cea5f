// Chrome's trace format, which ui.perfetto.dev and chrome://tracing open: a process for each
// variant, counters of memory for each device, a slice for each step and each op.
//
// A microsecond stands for one event of the allocator.
#pragma once

#include <string>

#include "reports/model/run_result.h"
#include "reports/text/report_style.h"

namespace ohm::reports {

/// Variants without a history are left out.
std::string trace_report(const RunResult& result, const ReportStyle& style);

}  // namespace ohm::reports
