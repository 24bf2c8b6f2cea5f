// The publication of what ohm run found: reports, the end of the table, and what is said beside it.
#pragma once

#include "harness/cli/run_plan.h"
#include "harness/cli/run_table.h"
#include "harness/run/runner.h"

namespace ohm::cli {

/// Throws UsageError for what could not be written, when all the rest is.
void publish_run(RunPlan& plan, const Environment& environment, const engine::RunOutcome& outcome,
                 RunTable& table);

}  // namespace ohm::cli
