// Why a limit broke or a figure grew, in sentences and lines that several formats print.
#pragma once

#include <string>

#include "reports/model/run_result.h"

namespace ohm::reports {

/// "+1.00 KiB (4.00 KiB before, 5.00 KiB now)  train.py:12  cat"; without a baseline the bytes
/// alone.
std::string cause_line_text(const CauseLine& line);

/// "1.20 MiB  3 more lines"; empty where there are none.
std::string other_cause_lines_text(const CauseResult& cause);

/// All of it, a line each; empty of a variant without a cause.
std::string cause_text(const VariantResult& variant);

}  // namespace ohm::reports
