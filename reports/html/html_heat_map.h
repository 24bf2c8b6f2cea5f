// Sweeps as heat maps: points of a program against what became of failures there.
#pragma once

#include <string>

#include "reports/model/run_result.h"

namespace ohm::reports {

/// A table for each variant that was swept; empty without a sweep.
std::string html_heat_maps(const ScenarioResult& scenario);

}  // namespace ohm::reports
