#include "reports/text/memory_summary.h"

#include <cmath>
#include <regex>
#include <string>

namespace ohm::reports {

namespace {

/// "32019 MiB", "32 GB", "500 B": every release has counted in powers of 1024.
double bytes_of(const std::string& number, const std::string& unit) {
  const std::size_t power = std::string_view("BKMGTP").find(unit[0]);
  return std::stod(number) * std::pow(1024.0, static_cast<double>(power));
}

std::optional<MemorySummaryRow> row_in(const std::string& line, const char* name) {
  static const std::regex cells(
      R"(\|\s*(\d{1,15}) ([KMGTP]?i?B)\s*\|\s*(\d{1,15}) ([KMGTP]?i?B)\s*\|)");
  if (line.find(name) == std::string::npos) return std::nullopt;
  std::smatch match;
  if (!std::regex_search(line, match, cells)) return std::nullopt;
  return MemorySummaryRow{bytes_of(match.str(1), match.str(2)),
                          bytes_of(match.str(3), match.str(4))};
}

void take(const std::string& line, std::optional<MemorySummary>& summary) {
  static const std::regex title(R"(PyTorch CUDA memory summary, device ID (\d{1,4}))");
  static const std::regex counts(R"(CUDA OOMs: (\d{1,15})\s*\|\s*cudaMalloc retries: (\d{1,15}))");
  std::smatch match;
  if (std::regex_search(line, match, title)) {
    summary.emplace().device = std::stoi(match.str(1));
    return;
  }
  if (!summary) return;
  if (std::regex_search(line, match, counts)) {
    summary->ooms = std::stoll(match.str(1));
    summary->retries = std::stoll(match.str(2));
  }
  if (const auto row = row_in(line, "Allocated memory")) summary->allocated = row;
  if (const auto row = row_in(line, "GPU reserved memory")) summary->reserved = row;
  if (const auto row = row_in(line, "Non-releasable memory")) summary->non_releasable = row;
}

}  // namespace

std::optional<MemorySummary> find_memory_summary(const std::vector<LogLine>& lines) {
  std::optional<MemorySummary> summary;
  for (const LogLine& line : lines) take(line.text, summary);
  return summary && summary->allocated ? summary : std::nullopt;
}

}  // namespace ohm::reports
