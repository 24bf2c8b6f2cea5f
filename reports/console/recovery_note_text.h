// Sentences about what recoveries did otherwise than the fault-free run.
#pragma once

#include <string>

#include "reports/model/sweep_result.h"
#include "reports/text/report_style.h"

namespace ohm::reports {

/// A sentence of each of the variant's notes, indented; empty where it has none.
std::string recovery_notes_text(const SweptVariant& variant, const ReportStyle& style);

}  // namespace ohm::reports
