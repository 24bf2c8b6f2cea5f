// The execution of ohm run: by this machine, or by a job array.
#pragma once

#include "harness/cli/run_plan.h"
#include "harness/run/runner.h"

namespace ohm::cli {

/// By this machine. `board` is shown the running variants; nullptr: nothing is.
engine::RunOutcome run_here(const RunPlan& plan, const Environment& environment,
                            engine::RunObserver& observer, engine::LiveBoard* board);

/// By a job array: the outcome as if this machine had run all of it.
engine::RunOutcome run_launched(const RunPlan& plan, const Environment& environment,
                                engine::RunObserver& observer);

/// By a job array on several types of cards: prints the table of each; what they found as JSON is
/// in the folder. Returns the exit code.
int run_on_card_types(const RunPlan& plan, const Environment& environment);

}  // namespace ohm::cli
