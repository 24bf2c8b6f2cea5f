// The table of what the program's variables kept alive, for the terminal.
#pragma once

#include <string>

#include "reports/model/run_result.h"
#include "reports/text/report_style.h"

namespace ohm::reports {

/// The variables that reached most, each with its path to the largest of what it keeps; empty where
/// none were looked at. `name`: what the program is called.
std::string console_retention(const std::string& name, const VariantResult& variant,
                              const ReportStyle& style);

}  // namespace ohm::reports
