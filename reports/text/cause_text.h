// Why a limit broke or a figure grew, in sentences and lines that several formats print.
#pragma once

#include <string>

#include "reports/model/run_result.h"

namespace ohm::reports {

/// "train.py:12  +1.00 KiB  cat (4.00 KiB -> 5.00 KiB)".
std::string cause_line_text(const CauseLine& line);

/// "3 more lines: 1.20 MiB"; empty where there are none.
std::string other_cause_lines_text(const CauseResult& cause);

/// All of it, a line each; empty of a variant without a cause.
std::string cause_text(const VariantResult& variant);

}  // namespace ohm::reports
