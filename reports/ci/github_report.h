// Reports for GitHub Actions: annotations beside the lines of a change, and the summary of a step.
#pragma once

#include <cstddef>
#include <string>

#include "reports/model/run_result.h"
#include "reports/text/report_style.h"

namespace ohm::reports {

/// GitHub shows ten annotations of a step: the worst nine, and how many more there are.
inline constexpr std::size_t kMostAnnotations = 10;

/// GitHub refuses a summary that is larger.
inline constexpr std::size_t kMostSummaryBytes = std::size_t{1} << 20;

/// Workflow commands, one a line: `::error file=…,line=…,title=…::…` for each variant that failed.
std::string github_annotations(const RunResult& result, const ReportStyle& style);

/// Markdown for $GITHUB_STEP_SUMMARY: what failed first; the rest folded, as far as there is room.
std::string github_summary(const RunResult& result, const ReportStyle& style);

}  // namespace ohm::reports
