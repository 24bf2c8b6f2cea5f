// An out-of-memory error for people: the request, PyTorch's message, and what was alive.
#pragma once

#include <string>

#include "reports/model/run_result.h"
#include "reports/text/report_style.h"

namespace ohm::reports {

/// Of a variant that ran out of memory: several lines, indented by two; ends with a line end.
/// PyTorch's message is left out where the program itself has printed it as its error.
std::string console_oom(const std::string& name, const VariantResult& variant,
                        const ReportStyle& style);

/// The conclusion from a record, indented; empty: there is none.
std::string console_conclusion(const VariantResult& variant, const ReportStyle& style);

}  // namespace ohm::reports
