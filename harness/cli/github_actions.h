// Output for GitHub Actions, written without being asked for: annotations and the step's summary.
#pragma once

#include "reports/model/run_result.h"

namespace ohm::cli {

/// Under GITHUB_ACTIONS=true: annotations to stderr, where the runner reads them as well, and
/// Markdown to the end of $GITHUB_STEP_SUMMARY. A summary that cannot be written is said on stderr
/// and changes nothing else.
void tell_github(const RunResult& result);

}  // namespace ohm::cli
