// Heat maps: the verdicts of a sweep, counted at each place in the program.
#pragma once

#include "reports/model/run_result.h"
#include "reports/model/sweep_result.h"

namespace ohm::reports {

/// Adds the heat maps of a sweep to the scenarios of the same name; a scenario that the result does
/// not have is added.
void add_heat_maps(const SweepResult& sweep, RunResult& result);

}  // namespace ohm::reports
