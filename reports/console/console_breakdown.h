// A breakdown of memory in rows of a terminal: by category, by the lines that allocated it, beside
// the lines of the script.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/model/run_result.h"
#include "reports/text/report_style.h"

namespace ohm::reports {

/// A row with a bar for each category that has bytes, largest first.
std::string category_rows(const CategoryBytes& bytes);

/// A row for each holder.
std::string holder_rows(const std::vector<HolderResult>& holders, std::size_t columns);

/// What was alive at the peak of each of the variant's devices; empty where it was not recorded.
std::string console_peaks(const VariantResult& variant, const ReportStyle& style);

/// What was alive at the peak of a program's host memory; empty where it was not recorded.
std::string console_host_peak(const HostResult& host, const ReportStyle& style);

/// The scenario's lines with the bytes that each held at the variant's peak, with its neighbours;
/// empty where none did.
std::string console_source(const ScenarioResult& scenario, const VariantResult& variant,
                           const ReportStyle& style);

}  // namespace ohm::reports
