#include "reports/console/fit_exactness.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/text/text_layout.h"
#include "reports/text/unknown_values_text.h"

namespace ohm::reports {

namespace {

ExactnessNote assumed_note(const FitRow& row, const std::string& varied) {
  const std::string share = printable(row.assumed_selection);
  const std::string option = fmt::format("(--assume-selected {})", share);
  if (share != "max") {
    return {"assumed", fmt::format("masks select {} of the rows {}", share, option)};
  }
  const std::string all = fmt::format("assumes that every row is selected {}", option);
  // With other values unknown the peaks need not be the largest.
  if (!row.unknown_values.empty()) return {"assumed", all};
  return {"upper bound",
          fmt::format("{}: where fewer are, {} may do", all,
                      varied == kFitCapacity ? "a smaller card" : "a larger " + printable(varied))};
}

}  // namespace

std::string_view exactness(const FitRow& row) {
  if (!row.unknown_values.empty()) return "not exact";
  if (row.assumed_selection.empty()) return "exact";
  return row.assumed_selection == "max" ? "upper bound" : "assumed";
}

std::vector<ExactnessNote> exactness_notes(const FitRow& row, const std::string& varied) {
  std::vector<ExactnessNote> notes;
  if (!row.assumed_selection.empty()) notes.push_back(assumed_note(row, varied));
  const bool has_failed = row.outcome == FitOutcome::failed;
  for (const std::string& line : unknown_value_lines(row.unknown_values, has_failed)) {
    notes.push_back({"not exact", printable(line)});
  }
  return notes;
}

std::string exactness_advice(const FitResult& result) {
  std::vector<UnknownValueResult> reads;
  for (const FitRow& row : result.rows) {
    reads.insert(reads.end(), row.unknown_values.begin(), row.unknown_values.end());
  }
  return reads.empty() ? "" : unknown_values_advice(reads, result.has_values);
}

}  // namespace ohm::reports
