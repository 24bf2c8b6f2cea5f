// The allocation points that no handler of the program covers, as collapsed stacks: what
// flamegraph.pl and speedscope read.
#pragma once

#include <string>

#include "reports/model/sweep_result.h"

namespace ohm::reports {

/// "scenario;variant;file:line;…;op N" for each point at which a failure was not handled; N is
/// how often the fault-free run passes it.
std::string sweep_stacks(const SweepResult& result);

}  // namespace ohm::reports
