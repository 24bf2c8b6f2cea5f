// Memory over time in characters of a terminal: braille dots, with the limits drawn through them.
#pragma once

#include <string>

#include "reports/model/run_result.h"
#include "reports/text/report_style.h"

namespace ohm::reports {

/// A plot of the fullest GPU of each variant that has a history, all of one scale; as wide as the
/// terminal. Empty where no variant has one.
std::string console_plots(const ScenarioResult& scenario, const ReportStyle& style);

}  // namespace ohm::reports
