// The basis of a prediction from recordings, for the terminal.
#pragma once

#include <string>
#include <string_view>

#include "reports/model/fit_result.h"
#include "reports/text/report_style.h"

namespace ohm::reports {

/// "6,144 bytes", "3.42 GiB (3,672,658,148 bytes)"; a slope may have a fraction.
std::string exact_bytes(double bytes);

std::string fit_basis_text(const FitBasis& basis, std::string_view varied,
                           const ReportStyle& style);

}  // namespace ohm::reports
